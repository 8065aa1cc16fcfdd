// Sessions without a WebSocket: clients that heartbeat over HTTP. Such a session is a row of the same table,
// under the same rules as a socket.
import { type Activity, CLOSE, type Platform } from '@greendot/protocol'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { toOwnPresence } from '../../presence/core/view.ts'
import type { Tracker } from '../../presence/pipeline/tracker.ts'
import type { OwnViews } from './own-views.ts'
import { ACTIVITY, type SessionTable } from './session-table.ts'
import type { Sessions } from './sessions.ts'
import type { Sockets } from './sockets.ts'

export interface HttpHeartbeat {
  userId: string
  deviceId: string
  platform: Platform
  activity: Activity
  tokenExpiresAt: number | null
}

export interface HttpSessionState {
  awayAfterMs: number
  /** The own view as JSON when it is newer than the one the client has; else null. */
  ownView: string | null
}

export interface HttpSessions {
  /** Whether the heartbeat opens a session or changes what one says. */
  isTransition(heartbeat: HttpHeartbeat): boolean
  /** Null when the user has as many sessions as one may have. */
  heartbeat(heartbeat: HttpHeartbeat): Promise<HttpSessionState | null>
  /** Ends every session of the device, WebSockets included, on all gateways. */
  leave(userId: string, deviceId: string): Promise<void>
}

export interface HttpSessionsParts {
  table: SessionTable
  sessions: Sessions
  sockets: Sockets
  ownViews: OwnViews
  tracker: Tracker
  policy: Policy
  clock: Clock
}

export function createHttpSessions(parts: HttpSessionsParts): HttpSessions {
  const { table, sessions, sockets, ownViews, tracker, policy, clock } = parts
  const { columns } = table

  function rowOf(userId: string, deviceId: string): number | undefined {
    return sessions
      .rowsOf(userId)
      .find((row) => columns.sockets[row] === null && columns.deviceIds[row] === deviceId)
  }

  /** Until its first report is through, a session is never away by itself. */
  function awayAfterMs(row: number): number {
    const chosen = columns.awayAfterMs[row]!
    return Number.isFinite(chosen) ? chosen : policy.awayAfterMs
  }

  async function open(heartbeat: HttpHeartbeat): Promise<HttpSessionState | null> {
    const row = sessions.admit(heartbeat, null)
    if (row === null) return null
    const tracked = await sessions.announce(row, heartbeat).catch((error: unknown) => {
      sockets.hangUp(row, CLOSE.shuttingDown, 'unavailable')
      throw error
    })
    if (tracked === null) return { awayAfterMs: policy.awayAfterMs, ownView: null }
    const view = toOwnPresence(heartbeat.userId, tracked.record, clock.now(), policy)
    ownViews.welcomed(row, tracked.revision, view.availability === 'invisible')
    return { awayAfterMs: awayAfterMs(row), ownView: JSON.stringify(view) }
  }

  return {
    isTransition({ userId, deviceId, activity }) {
      const row = rowOf(userId, deviceId)
      return row === undefined || columns.activity[row] !== ACTIVITY[activity]
    },
    async heartbeat(heartbeat) {
      const { userId, deviceId, activity, tokenExpiresAt } = heartbeat
      const row = rowOf(userId, deviceId)
      if (row === undefined) return open(heartbeat)
      columns.tokenExpiresAt[row] = tokenExpiresAt ?? Number.POSITIVE_INFINITY
      sessions.heartbeat(row, activity)
      return { awayAfterMs: awayAfterMs(row), ownView: ownViews.take(row) }
    },
    async leave(userId, deviceId) {
      for (const row of sessions.rowsOf(userId)) if (columns.deviceIds[row] === deviceId) sockets.leave(row)
      // Other gateways may hold sessions of the device as well.
      await tracker.apply(userId, { type: 'device_left', at: clock.now() + 1, deviceId })
    },
  }
}
