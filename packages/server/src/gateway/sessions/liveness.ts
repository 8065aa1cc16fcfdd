// Finds silence. No connection has a timer: every quarter of a second the table's columns are walked
// once, which for tens of thousands of rows is well under a millisecond. What is found is dated to
// the instant it became true, not to the walk, so a late walk delays nothing.
import { CLOSE, type Failure } from '@greendot/protocol'
import type { Clock, Timer } from '../../platform/clock.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { ACTIVITY, type SessionTable } from './session-table.ts'
import type { Sessions } from './sessions.ts'
import type { Sockets } from './sockets.ts'

const SWEEP_EVERY_MS = 250
const FRAME_WINDOW_MS = 1_000
const TOKEN_EXPIRED: Failure = {
  code: 'token_expired',
  message: 'the token has expired; connect again with a new one',
}

export interface LivenessParts {
  table: SessionTable
  sessions: Sessions
  policy: Policy
  clock: Clock
  sockets: Sockets
}

export function startLiveness({ table, sessions, sockets, policy, clock }: LivenessParts): Timer {
  const { columns } = table
  let windowEndsAt = clock.now() + FRAME_WINDOW_MS

  function sweep(): void {
    const now = clock.now()
    if (now >= windowEndsAt) {
      columns.framesThisSecond.fill(0)
      windowEndsAt = now + FRAME_WINDOW_MS
    }
    for (let row = 0; row < columns.user.length; row++) {
      if (columns.user[row] === NIL) continue
      const provenAt = columns.beatAt[row]!
      const silentAt = provenAt + policy.heartbeatTtlMs
      if (silentAt <= now) {
        const socket = columns.sockets[row]
        sessions.end(row, { how: 'lost', provenAt, at: silentAt })
        if (socket) socket.close(CLOSE.noHeartbeat, 'no heartbeat')
        continue
      }
      if (columns.tokenExpiresAt[row]! <= now) {
        sockets.hangUp(row, CLOSE.badToken, 'token expired', TOKEN_EXPIRED)
        continue
      }
      if (columns.activity[row] === ACTIVITY.active) {
        const awayAt = columns.activeAt[row]! + columns.awayAfterMs[row]!
        if (awayAt <= now) sessions.fallIdle(row, awayAt)
      }
    }
  }

  return clock.every(SWEEP_EVERY_MS, sweep)
}
