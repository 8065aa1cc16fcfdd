// Sessions on connection servers of another system, as that system reports them. Each is a row of the same table, under
// the same rules as a socket: time to live, away time, delays. A foreign gateway needs no lease of its own: when it is
// silent, each of its sessions is lost after its time to live. A report that changes nothing writes two numbers.
import { CLOSE, type Failure } from '@greendot/protocol'
import type { ForeignBatch, ForeignDevice, ForeignSession, Rejection } from '../../foreign/batch.ts'
import type { Holder } from '../../foreign/routing.ts'
import { chunksOf } from '../../platform/chunks.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { ACTIVITY, type SessionTable } from './session-table.ts'
import type { Sessions } from './sessions.ts'
import type { Sockets } from './sockets.ts'

/** Entries in one batch that is handed over. */
const HANDED_OVER_MAX = 5_000

const TOO_MANY: Failure = {
  code: 'rate_limited',
  message: 'too many sessions for one user; let some end',
}
const UNAVAILABLE: Failure = { code: 'unavailable', message: 'presence cannot be reached; report it again' }

export interface ForeignSessionsParts {
  table: SessionTable
  sessions: Sessions
  sockets: Pick<Sockets, 'hangUp'>
  ended: EndedSessions
  policy: Policy
  clock: Clock
}

export function createForeignSessions(parts: ForeignSessionsParts): Holder {
  const { table, sessions, sockets, ended, policy, clock } = parts
  const { columns } = table
  const { heartbeatTtlMs: ttlMs } = policy

  function rowOf(foreign: string, { userId, deviceId }: ForeignDevice): number | undefined {
    const isMeant = (row: number) => columns.deviceIds[row] === deviceId && columns.foreign[row] === foreign
    return sessions.rowsOf(userId).find(isMeant)
  }

  /** An instant that proves nothing about now is refused. A clock that is a little ahead is not. */
  function instantFailure(at: number, now: number): Failure | null {
    if (at >= now - ttlMs && at <= now + ttlMs) return null
    const message = `at is more than ${ttlMs} ms away from ${now}, the time here`
    return { code: 'bad_request', message }
  }

  async function open(foreign: string, session: ForeignSession, at: number): Promise<Failure | null> {
    const { userId, deviceId, platform, activity } = session
    const opening = { userId, deviceId, platform, activity, tokenExpiresAt: null, foreign }
    const row = sessions.admit(opening, null)
    if (row === null) return TOO_MANY
    columns.beatAt[row] = at
    const generation = columns.generation[row]
    try {
      await sessions.announce(row, opening)
      return null
    } catch {
      if (table.isLive(row) && columns.generation[row] === generation)
        sockets.hangUp(row, CLOSE.shuttingDown, 'unavailable')
      return UNAVAILABLE
    }
  }

  /** Null when it is recorded, or will be when the promise resolves with null. */
  function report(
    foreign: string,
    session: ForeignSession,
    now: number,
  ): Failure | Promise<Failure | null> | null {
    const failure =
      (session.at === null ? null : instantFailure(session.at, now)) ??
      ended.failureFor({ foreign, userId: session.userId, deviceId: session.deviceId }, null)
    if (failure !== null) return failure
    const at = Math.min(session.at ?? now, now)
    const row = rowOf(foreign, session)
    if (row === undefined) return open(foreign, session, at)
    sessions.heartbeat(row, session.activity, at)
    return null
  }

  return {
    async record({ gatewayId: foreign, sessions: reported, disconnected, isBrief }) {
      // A device that is in both lists has come back.
      for (const device of disconnected) {
        ended.forget({ foreign, ...device })
        const row = rowOf(foreign, device)
        if (row !== undefined) sessions.end(row, { how: 'closed' })
      }
      const now = clock.now()
      const rejections: Rejection[] = []
      const opening: Promise<void>[] = []
      for (const [index, session] of reported.entries()) {
        const outcome = report(foreign, session, now)
        if (outcome instanceof Promise)
          opening.push(outcome.then((failure) => void (failure && rejections.push({ index, ...failure }))))
        else if (outcome !== null) rejections.push({ index, ...outcome })
      }
      if (!isBrief) await Promise.all(opening)
      return rejections.sort((a, b) => a.index - b.index)
    },

    release(gatewayId, released) {
      for (const device of released) {
        const row = rowOf(gatewayId, device)
        // A goodbye of this session only: the next holder has told of its own already.
        if (row !== undefined) sessions.end(row, { how: 'left' })
      }
    },

    held() {
      const byGateway = new Map<string, ForeignSession[]>()
      for (const row of table.rows()) {
        const foreign = columns.foreign[row]!
        if (foreign === null) continue
        const held = byGateway.get(foreign) ?? []
        byGateway.set(foreign, held)
        held.push({
          userId: sessions.userIdOf(row),
          deviceId: columns.deviceIds[row]!,
          platform: table.platformOf(row),
          activity: columns.activity[row] === ACTIVITY.idle ? 'idle' : 'active',
          at: columns.beatAt[row]!,
        })
      }
      return Array.from(byGateway).flatMap(([gatewayId, held]) =>
        Array.from(
          chunksOf(held, HANDED_OVER_MAX),
          (part): ForeignBatch => ({
            gatewayId,
            sessions: part,
            disconnected: [],
          }),
        ),
      )
    },
  }
}
