// Heartbeats and goodbyes over HTTP, for clients without a WebSocket. Such a client is a session of the
// gateway it reached, in the same table and under the same rules as a socket.
import { CLOSE } from '@greendot/protocol'
import type { OwnViews } from '../../gateway/sessions/own-views.ts'
import type { SessionTable } from '../../gateway/sessions/session-table.ts'
import type { Sessions } from '../../gateway/sessions/sessions.ts'
import type { Sockets } from '../../gateway/sessions/sockets.ts'
import { heartbeatBody, leaveBody } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import { isInvisible } from '../../presence/core/machine.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { toOwnPresence } from '../../presence/core/view.ts'
import type { Tracker } from '../../presence/pipeline/tracker.ts'
import { heartbeatTimes } from '../openapi/answers.ts'
import { noContent, refuse, replyJson } from '../reply.ts'
import { nothing, type Routes, route } from '../route.ts'

export interface SessionRoutesParts {
  sessions: Sessions
  sockets: Sockets
  table: SessionTable
  ownViews: OwnViews
  tracker: Tracker
  policy: Policy
  clock: Clock
}

export function sessionRoutes(parts: SessionRoutesParts): Routes {
  const { sessions, sockets, table, ownViews, tracker, policy, clock } = parts

  /** The HTTP session of a device. A WebSocket of the same device is another session. */
  function httpRow(userId: string, deviceId: string): number | undefined {
    return sessions
      .rowsOf(userId)
      .find((row) => table.columns.sockets[row] === null && table.columns.deviceIds[row] === deviceId)
  }

  /** Before its first report is applied, a session has no limit of its own. */
  function awayAfterMs(row: number | null): number {
    const chosen = row === null ? Number.POSITIVE_INFINITY : table.columns.awayAfterMs[row]!
    return Number.isFinite(chosen) ? chosen : policy.awayAfterMs
  }

  /** The figures of a welcome, and the own view if it changed. */
  function times(userId: string, row: number | null, self: string | null): Response {
    const said = JSON.stringify({
      user_id: userId,
      heartbeat_interval_ms: policy.heartbeatIntervalMs,
      heartbeat_ttl_ms: policy.heartbeatTtlMs,
      away_after_ms: awayAfterMs(row),
      server_time: clock.now(),
    })
    return replyJson(self === null ? said : `${said.slice(0, -1)},"self":${self}}`)
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
        async run({ body: { device_id: deviceId, platform, activity }, caller: { userId, expiresAt } }) {
          const known = httpRow(userId, deviceId)
          if (known !== undefined) {
            table.columns.tokenExpiresAt[known] = expiresAt ?? Number.POSITIVE_INFINITY
            sessions.beat(known, activity)
            return times(userId, known, ownViews.take(known))
          }
          const opening = { userId, deviceId, platform, activity, tokenExpiresAt: expiresAt }
          const row = sessions.admit(opening, null)
          if (row === null)
            return refuse({ code: 'rate_limited', message: 'too many sessions for one user; let some end' })
          const tracked = await sessions.announce(row, opening).catch((error: unknown) => {
            sockets.hangUp(row, CLOSE.shuttingDown, 'unavailable')
            throw error
          })
          if (tracked === null) return times(userId, null, null)
          ownViews.welcomed(row, tracked.revision, isInvisible(tracked.record, clock.now()))
          const self = toOwnPresence(userId, tracked.record, clock.now(), policy)
          return times(userId, row, JSON.stringify(self))
        },
      }),
    },
    '/api/v1/leave': {
      POST: route({
        for: 'user',
        summary: 'Say goodbye',
        description: 'Ends every session of the device at once, WebSockets included.',
        body: leaveBody,
        answers: { 204: nothing('The device has left') },
        refusals: ['invalid_id'],
        async run({ body: { device_id: deviceId }, caller: { userId } }) {
          for (const row of sessions.rowsOf(userId)) {
            if (table.columns.deviceIds[row] === deviceId) sockets.leave(row)
          }
          // Other gateways may hold sessions of the device as well.
          await tracker.apply(userId, { type: 'device_left', at: clock.now() + 1, deviceId })
          return noContent()
        },
      }),
    },
  }
}
