// Users of batches that failed: whether they were committed is not known. A commit whose answer was lost has changed a
// user unannounced, so each of them is announced again half a second later.
import type { Clock } from '../../platform/clock.ts'

const REPEAT_MS = 500
/** Past it users are not announced again; their gateways announce them, because a batch failed. */
const REPEATED_USERS_MAX = 100_000

export interface Repeats {
  /** Announces these users again, together with those of other batches that fail meanwhile. */
  later(userIds: Iterable<string>): void
}

export function createRepeats(clock: Clock, repeat: (userId: string) => void): Repeats {
  const unconfirmed = new Set<string>()
  let willRepeat = false

  return {
    later(userIds) {
      for (const userId of userIds) if (unconfirmed.size < REPEATED_USERS_MAX) unconfirmed.add(userId)
      if (willRepeat) return
      willRepeat = true
      clock.after(REPEAT_MS, () => {
        willRepeat = false
        for (const userId of unconfirmed) repeat(userId)
        unconfirmed.clear()
      })
    },
  }
}
