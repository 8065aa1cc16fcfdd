// How often one user may poll presence instead of watching it: a burst, then one read per interval. A token
// bucket per user, stored as one number, the instant at which it is full again, so that idle users take no
// memory. Time is passed in. Each process counts by itself.

/** Users with a bucket. Over the limit, the user who polled least recently gets a full bucket. */
const USERS_MAX = 100_000

export interface PollLimit {
  /** Takes a token and returns 0, or returns the milliseconds until there is one. */
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
  /** In the order of the last token taken. */
  const fullAgainAt = new Map<string, number>()

  /** Users at the front polled least recently: their buckets are full again, or make room. */
  function makeRoom(now: number): void {
    for (const [userId, at] of fullAgainAt) {
      if (at > now && fullAgainAt.size <= usersMax) return
      fullAgainAt.delete(userId)
    }
  }

  return {
    take(userId, now) {
      // After the clock was set back, a user waits for one bucket at most.
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
