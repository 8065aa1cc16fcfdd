// RateLimiter for one process. A bucket is stored as one number, the instant at which it is full again. There
// are two generations of buckets, and the older one is dropped as a whole when all its buckets are full, so
// users who are idle take no memory and no call walks over others.
import type { RateLimit, RateLimiter } from './port.ts'

/** Users with a bucket, for each limit. Over it, users whose last call is oldest get a full bucket. */
const USERS_MAX = 100_000

export interface MemoryRateLimiter extends RateLimiter {
  /** Buckets that are kept. */
  size(): number
}

export function createMemoryRateLimiter({ usersMax = USERS_MAX } = {}): MemoryRateLimiter {
  const buckets = new Map<string, Buckets>()

  return {
    async take(limit, userId, now) {
      let ofLimit = buckets.get(limit.name)
      if (ofLimit === undefined) {
        ofLimit = createBuckets(limit, usersMax)
        buckets.set(limit.name, ofLimit)
      }
      return ofLimit.take(userId, now)
    },
    size: () => [...buckets.values()].reduce((sum, ofLimit) => sum + ofLimit.size(), 0),
  }
}

type Buckets = ReturnType<typeof createBuckets>

function createBuckets({ burst, everyMs }: RateLimit, usersMax: number) {
  const capacityMs = burst * everyMs
  let young = new Map<string, number>()
  let old = new Map<string, number>()
  let youngSince = 0

  /** A bucket is full once it was left alone for as long as all its tokens take. */
  function makeRoom(now: number): void {
    // The clock was set back.
    if (now < youngSince) youngSince = now
    const ageMs = now - youngSince
    if (ageMs < capacityMs && young.size < usersMax / 2) return
    old = ageMs < 2 * capacityMs ? young : new Map()
    young = new Map()
    youngSince = now
  }

  return {
    size: () => young.size + old.size,
    take(userId: string, now: number): number {
      makeRoom(now)
      const stored = young.get(userId) ?? old.get(userId) ?? 0
      // After the clock was set back, a user waits for one token at most.
      const full = Math.min(Math.max(stored, now), now + capacityMs)
      const waitMs = full + everyMs - now - capacityMs
      old.delete(userId)
      young.set(userId, waitMs > 0 ? full : full + everyMs)
      return Math.max(0, waitMs)
    },
  }
}
