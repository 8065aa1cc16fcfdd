// Sessions without a WebSocket: clients that heartbeat over HTTP. Such a session is a row of the same table,
// under the same rules as a socket.
import { type Activity, CLOSE, type Failure, type Platform } from '@greendot/protocol'
import type { Bus, LeftMessage } from '../../bus/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { toOwnPresence } from '../../presence/core/view.ts'
import { type Disconnects, TOKEN_REFUSED } from '../../presence/people/disconnects.ts'
import type { Tracker } from '../../presence/pipeline/tracker.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { Identity } from '../identity.ts'
import type { EndedSessions } from './ended-sessions.ts'
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
  /** Null where the token does not say so. Not given where there is none. */
  tokenIssuedAt?: number | null
}

export interface HttpSessionState {
  awayAfterMs: number
  /** The own view as JSON when it is newer than the one the client has; else null. */
  ownView: string | null
}

export type RecordedHeartbeat = { ok: true; state: HttpSessionState } | { ok: false; failure: Failure }

export interface HttpSessions {
  /** Whether the heartbeat opens a session or changes what one says. */
  isTransition(heartbeat: HttpHeartbeat): boolean
  heartbeat(heartbeat: HttpHeartbeat): Promise<RecordedHeartbeat>
  /** Ends every session of the device, WebSockets included, on all gateways. */
  leave(userId: string, deviceId: string): Promise<void>
  /** The device left by another gateway. */
  left(message: Omit<LeftMessage, 'kind'>): void
}

export interface HttpSessionsParts {
  table: SessionTable
  sessions: Sessions
  sockets: Sockets
  ownViews: OwnViews
  ended: EndedSessions
  tracker: Tracker
  store: Pick<PresenceStore, 'load'>
  bus: Bus
  identity: Identity
  disconnects: Pick<Disconnects, 'isRefused'>
  policy: Policy
  clock: Clock
}

const TOO_MANY_SESSIONS: Failure = {
  code: 'rate_limited',
  message: 'too many sessions for one user; let some end',
}

export function createHttpSessions(parts: HttpSessionsParts): HttpSessions {
  const { table, sessions, sockets, ownViews, ended, tracker, policy, clock } = parts
  const { store, bus, identity, disconnects } = parts
  const { columns } = table

  function rowOf(userId: string, deviceId: string): number | undefined {
    const isMeant = (row: number) =>
      columns.sockets[row] === null && columns.foreign[row] === null && columns.deviceIds[row] === deviceId
    return sessions.rowsOf(userId).find(isMeant)
  }

  /** Until its first report is through, a session is never away by itself. */
  function awayAfterMs(row: number): number {
    const chosen = columns.awayAfterMs[row]!
    return Number.isFinite(chosen) ? chosen : policy.awayAfterMs
  }

  function left({ userId, deviceId, at }: Omit<LeftMessage, 'kind'>): void {
    for (const row of sessions.rowsOf(userId))
      if (columns.deviceIds[row] === deviceId && columns.connectedAt[row]! <= at) sockets.leave(row)
  }

  /** Other gateways with sessions of the device; none where the store does not answer. */
  async function gatewaysOf(userId: string, deviceId: string): Promise<Set<string>> {
    const [stored] = await store.load([userId]).catch(() => [])
    const held = (stored?.record.sessions ?? []).filter((session) => session.deviceId === deviceId)
    return new Set(held.map(({ gatewayId }) => gatewayId).filter((gatewayId) => gatewayId !== identity.id()))
  }

  async function open(heartbeat: HttpHeartbeat): Promise<RecordedHeartbeat> {
    const row = sessions.admit(heartbeat, null)
    if (row === null) return { ok: false, failure: TOO_MANY_SESSIONS }
    const tracked = await sessions.announce(row, heartbeat).catch((error: unknown) => {
      sockets.hangUp(row, CLOSE.shuttingDown, 'unavailable')
      throw error
    })
    if (tracked === null) return { ok: true, state: { awayAfterMs: policy.awayAfterMs, ownView: null } }
    const view = toOwnPresence(heartbeat.userId, tracked.record, clock.now(), policy)
    ownViews.welcomed(row, tracked.revision, view.availability === 'invisible')
    return { ok: true, state: { awayAfterMs: awayAfterMs(row), ownView: JSON.stringify(view) } }
  }

  return {
    isTransition({ userId, deviceId, activity }) {
      const row = rowOf(userId, deviceId)
      return row === undefined || columns.activity[row] !== ACTIVITY[activity]
    },
    async heartbeat(heartbeat) {
      const { userId, deviceId, activity, tokenIssuedAt } = heartbeat
      // The token was checked before the request waited for its rate limit.
      if (tokenIssuedAt !== undefined && disconnects.isRefused(userId, tokenIssuedAt))
        return { ok: false, failure: TOKEN_REFUSED }
      const failure = ended.failureFor({ foreign: null, userId, deviceId }, tokenIssuedAt ?? null)
      if (failure !== null) return { ok: false, failure }
      const row = rowOf(userId, deviceId)
      if (row === undefined) return open(heartbeat)
      table.setToken(row, heartbeat)
      sessions.heartbeat(row, activity)
      return { ok: true, state: { awayAfterMs: awayAfterMs(row), ownView: ownViews.take(row) } }
    },
    left,
    async leave(userId, deviceId) {
      const at = clock.now()
      left({ userId, deviceId, at })
      // A gateway that is not told would go on with a session that the record does not have any more.
      const others = await gatewaysOf(userId, deviceId)
      await tracker.apply(userId, { type: 'device_left', at: at + 1, deviceId })
      for (const gatewayId of others) void bus.publish(gatewayId, [{ kind: 'left', userId, deviceId, at }])
    },
  }
}
