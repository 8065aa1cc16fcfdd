// How often one user may ask for presence instead of watching it: a few times at once, then now and
// then. A bucket of tokens per user, kept as one number, the instant it is full again, so that whoever
// has not asked for a while takes no room. Time is handed in; each process counts for itself.

/** Users remembered at a time. Past it the one who asked least recently starts afresh. */
const USERS_MAX = 100_000

export interface PollLimit {
  /** Takes a token and returns 0, or takes none and returns how many milliseconds until there is one. */
  take(userId: string, now: number): number
}

export interface PollLimitOptions {
  /** Tokens in a full bucket. */
  burst: number
  /** One token comes back in this time. */
  everyMs: number
  usersMax?: number
}

export function createPollLimit({ burst, everyMs, usersMax = USERS_MAX }: PollLimitOptions): PollLimit {
  const capacityMs = burst * everyMs
  /** In the order of their last token. */
  const fullAgainAt = new Map<string, number>()

  /** Those in front asked least recently: they are full again, or have to make room. */
  function makeRoom(now: number): void {
    for (const [userId, at] of fullAgainAt) {
      if (at > now && fullAgainAt.size <= usersMax) return
      fullAgainAt.delete(userId)
    }
  }

  return {
    take(userId, now) {
      // A clock that was set back keeps nobody waiting for more than one bucket.
      const before = Math.min(Math.max(fullAgainAt.get(userId) ?? 0, now), now + capacityMs)
      const waitMs = before + everyMs - now - capacityMs
      if (waitMs > 0) {
        fullAgainAt.set(userId, before)
        return waitMs
      }
      fullAgainAt.delete(userId)
      fullAgainAt.set(userId, before + everyMs)
      makeRoom(now)
      return 0
    },
  }
}
