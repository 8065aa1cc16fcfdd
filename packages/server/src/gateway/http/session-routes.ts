// Being here without a WebSocket: heartbeats and goodbyes over HTTP. Such a client is a session of the
// gateway it reached, in the same table and under the same rules as a socket.
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/policy.ts'
import type { Tracker } from '../../presence/tracker.ts'
import { heartbeatBody, leaveBody } from '../schemas.ts'
import type { SessionTable } from '../session-table.ts'
import type { Sessions } from '../sessions.ts'
import type { Sockets } from '../sockets.ts'
import { readBody } from './body.ts'
import type { Routes } from './guard.ts'
import { noContent, refuse, reply } from './reply.ts'

export interface SessionRoutesParts {
  sessions: Sessions
  sockets: Sockets
  table: SessionTable
  tracker: Tracker
  policy: Policy
  clock: Clock
}

export function sessionRoutes(parts: SessionRoutesParts): Routes {
  const { sessions, sockets, table, tracker, policy, clock } = parts

  /** The session of a device that beats over HTTP; a WebSocket of the same device is another one. */
  function httpRow(userId: string, deviceId: string): number | undefined {
    return sessions
      .rowsOf(userId)
      .find((row) => table.columns.sockets[row] === null && table.columns.deviceIds[row] === deviceId)
  }

  return {
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
          // Other gateways may hold sessions of the device as well.
          await tracker.apply(userId, {
            type: 'device_left',
            at: clock.now() + 1,
            deviceId: body.value.device_id,
          })
          return noContent()
        },
      },
    },
  }
}
