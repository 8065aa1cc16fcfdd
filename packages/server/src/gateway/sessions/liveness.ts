// Finds silence. No connection has a timer: every quarter of a second the table's columns are walked
// once, which for tens of thousands of rows is well under a millisecond. What is found is dated to
// the instant it became true, not to the walk, so that being swept late makes nobody later.
import { CLOSE } from '@greendot/protocol'
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { NIL } from '../delivery/watch-index.ts'
import { ACTIVITY, type SessionTable } from './session-table.ts'
import type { Sessions } from './sessions.ts'

const SWEEP_EVERY_MS = 250
const FRAME_WINDOW_MS = 1_000

export interface LivenessParts {
  table: SessionTable
  sessions: Sessions
  policy: Policy
  clock: Clock
  /** The token of a row has run out. */
  expire(row: number): void
}

export function startLiveness({ table, sessions, policy, clock, expire }: LivenessParts): Timer {
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
        expire(row)
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
