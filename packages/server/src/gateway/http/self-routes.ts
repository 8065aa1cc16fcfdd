// What a person does by HTTP: say something about themselves, or be here without a WebSocket.
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/policy.ts'
import { toOwnPresence } from '../../presence/view.ts'
import type { Actions, Outcome } from '../actions.ts'
import { availabilityBody, customStatusBody, heartbeatBody, leaveBody } from '../schemas.ts'
import type { SessionTable } from '../session-table.ts'
import type { Sessions } from '../sessions.ts'
import type { Sockets } from '../sockets.ts'
import { readBody } from './body.ts'
import type { Routes } from './guard.ts'
import { noContent, refuse, reply } from './reply.ts'

export interface SelfRoutesParts {
  actions: Actions
  sessions: Sessions
  sockets: Sockets
  table: SessionTable
  policy: Policy
  clock: Clock
}

export function selfRoutes({ actions, sessions, sockets, table, policy, clock }: SelfRoutesParts): Routes {
  const cleared = { text: null, emoji: null, expiresAt: null }

  function answer(userId: string, outcome: Outcome): Response {
    if (!outcome.ok) return refuse(outcome.failure)
    return reply(toOwnPresence(userId, outcome.tracked.record, clock.now(), policy))
  }

  /** The session of a device that beats over HTTP; a WebSocket of the same device is another one. */
  function httpRow(userId: string, deviceId: string): number | undefined {
    return sessions
      .rowsOf(userId)
      .find((row) => table.columns.sockets[row] === null && table.columns.deviceIds[row] === deviceId)
  }

  return {
    '/api/v1/presence/status': {
      PUT: {
        for: 'user',
        async run(request, { userId }) {
          const body = await readBody(request, customStatusBody)
          if (!body.ok) return refuse(body.failure)
          return answer(userId, await actions.setCustomStatus(userId, body.value))
        },
      },
      DELETE: {
        for: 'user',
        run: async (_, { userId }) => answer(userId, await actions.setCustomStatus(userId, cleared)),
      },
    },
    '/api/v1/presence/availability': {
      PUT: {
        for: 'user',
        async run(request, { userId }) {
          const body = await readBody(request, availabilityBody)
          if (!body.ok) return refuse(body.failure)
          return answer(userId, await actions.setAvailability(userId, body.value))
        },
      },
    },
    '/api/v1/heartbeat': {
      POST: {
        for: 'user',
        async run(request, { userId, expiresAt }) {
          const body = await readBody(request, heartbeatBody)
          if (!body.ok) return refuse(body.failure)
          const { device_id: deviceId, platform, activity } = body.value
          const row = httpRow(userId, deviceId)
          if (row !== undefined) {
            table.columns.tokenExpiresAt[row] = expiresAt ?? Number.POSITIVE_INFINITY
            sessions.beat(row, activity)
          } else {
            const opening = { userId, deviceId, platform, activity, tokenExpiresAt: expiresAt }
            const opened = sessions.admit(opening, null)
            if (opened === null) {
              return refuse({ code: 'rate_limited', message: 'too many sessions for one user; let some end' })
            }
            await sessions.announce(opened, opening)
          }
          return reply({
            heartbeat_interval_ms: policy.heartbeatIntervalMs,
            heartbeat_ttl_ms: policy.heartbeatTtlMs,
            server_time: clock.now(),
          })
        },
      },
    },
    '/api/v1/leave': {
      POST: {
        for: 'user',
        async run(request, { userId }) {
          const body = await readBody(request, leaveBody)
          if (!body.ok) return refuse(body.failure)
          for (const row of sessions.rowsOf(userId)) {
            if (table.columns.deviceIds[row] === body.value.device_id) sockets.leave(row)
          }
          return noContent()
        },
      },
    },
  }
}
