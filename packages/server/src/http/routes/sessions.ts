// Heartbeats and goodbyes over HTTP, for clients without a WebSocket.
import type { HttpSessionState, HttpSessions } from '../../gateway/sessions/connections.ts'
import { heartbeatBody, leaveBody } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import type { Throttle } from '../access/throttle.ts'
import { createHeartbeats } from '../heartbeats.ts'
import { heartbeatTimes } from '../openapi/answers.ts'
import { noContent, refuse, replyJson } from '../reply.ts'
import { nothing, type Routes, route } from '../route.ts'

export interface SessionRoutesParts {
  httpSessions: HttpSessions
  throttle: Throttle
  policy: Policy
  clock: Clock
}

export function sessionRoutes({ httpSessions, throttle, policy, clock }: SessionRoutesParts): Routes {
  const heartbeats = createHeartbeats({ httpSessions, throttle })

  /** What a welcome says, and the own view when it is new. */
  function times(userId: string, { awayAfterMs, ownView }: HttpSessionState): Response {
    const json = JSON.stringify({
      user_id: userId,
      heartbeat_interval_ms: policy.heartbeatIntervalMs,
      heartbeat_ttl_ms: policy.heartbeatTtlMs,
      away_after_ms: awayAfterMs,
      server_time: clock.now(),
    })
    return replyJson(ownView === null ? json : `${json.slice(0, -1)},"self":${ownView}}`)
  }

  return {
    '/api/v1/heartbeat': {
      POST: route({
        for: 'user',
        summary: 'Heartbeat over HTTP',
        description:
          'Presence without a WebSocket. The first heartbeat of a device connects it; silence past the time to live ends the session.',
        body: heartbeatBody,
        answers: { 200: heartbeatTimes },
        refusals: ['invalid_id', 'rate_limited'],
        async run({ body: { device_id: deviceId, platform, activity }, caller }) {
          const { userId, expiresAt: tokenExpiresAt, issuedAt: tokenIssuedAt } = caller
          const heartbeat = { userId, deviceId, platform, activity, tokenExpiresAt, tokenIssuedAt }
          const recorded = await heartbeats.record(heartbeat, 'user')
          return recorded.ok ? times(userId, recorded.state) : refuse(recorded.failure)
        },
      }),
    },
    '/api/v1/leave': {
      POST: route({
        for: 'user',
        limit: 'write',
        summary: 'Say goodbye',
        description: 'Ends every session of the device at once, WebSockets included.',
        body: leaveBody,
        answers: { 204: nothing('The device has left') },
        refusals: ['invalid_id'],
        async run({ body: { device_id: deviceId }, caller: { userId } }) {
          await httpSessions.leave(userId, deviceId)
          return noContent()
        },
      }),
    },
  }
}
