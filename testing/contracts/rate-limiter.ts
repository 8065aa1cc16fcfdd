// What every RateLimiter must do: the same as a reference token bucket for each user and limit, whatever the
// order of the calls.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { RateLimit, RateLimiter } from '../../packages/server/src/limits/port.ts'

const NOON = Date.UTC(2030, 0, 1, 12)
const READ: RateLimit = { name: 'read', burst: 5, everyMs: 30_000 }
const WRITE: RateLimit = { name: 'write', burst: 20, everyMs: 200 }
const RUNS = 100

/** The level of a bucket in milliseconds of refilling, so that all sums are exact. */
function createReferenceBucket({ burst, everyMs }: RateLimit) {
  const capacityMs = burst * everyMs
  let levelMs = capacityMs
  let last = 0
  return (now: number): number => {
    levelMs = Math.min(capacityMs, levelMs + now - last)
    last = now
    if (levelMs < everyMs) return everyMs - levelMs
    levelMs -= everyMs
    return 0
  }
}

export function rateLimiterContract(
  name: string,
  makeLimiter: () => RateLimiter,
  { runs = RUNS }: { runs?: number } = {},
): void {
  const takeMany = async (limiter: RateLimiter, limit: RateLimit, times: number, now: number) => {
    const waits: number[] = []
    for (let taken = 0; taken < times; taken++) waits.push(await limiter.take(limit, 'bob', now))
    return waits
  }

  describe(`rate limiter: ${name}`, () => {
    test('[R5] reads: five at once, then one every thirty seconds, and it says how long to wait', async () => {
      const limiter = makeLimiter()
      const at = (ms: number) => limiter.take(READ, 'bob', NOON + ms)
      const waits = []
      for (const ms of [0, 0, 0, 1, 2, 3, 20_000, 29_999, 30_000, 30_000, 60_000]) waits.push(await at(ms))
      expect(waits).toEqual([0, 0, 0, 0, 0, 29_997, 10_000, 1, 0, 30_000, 0])
    })

    test('[R5] writes: twenty at once, then five a second', async () => {
      const limiter = makeLimiter()
      expect(await takeMany(limiter, WRITE, 21, NOON)).toEqual([...Array(20).fill(0), 200])
      const after = []
      for (let ms = 100; ms <= 1_000; ms += 100) after.push(await limiter.take(WRITE, 'bob', NOON + ms))
      expect(after.filter((waitMs) => waitMs === 0)).toHaveLength(5)
    })

    test('[R5] a bucket that had time to fill is full, and never more than full', async () => {
      const limiter = makeLimiter()
      for (const day of [0, 1, 2])
        expect(await takeMany(limiter, READ, 6, NOON + day * 86_400_000)).toEqual([0, 0, 0, 0, 0, 30_000])
    })

    test('[R5] users and limits have buckets of their own', async () => {
      const limiter = makeLimiter()
      const one = { ...READ, burst: 1 }
      for (const userId of ['bob', 'alice', '__proto__', 'a'.repeat(128), 'ö{s1}:'])
        expect(await limiter.take(one, userId, NOON)).toBe(0)
      expect(await limiter.take({ ...WRITE, burst: 1 }, 'bob', NOON)).toBe(0)
      expect(await limiter.take(one, 'bob', NOON)).toBe(READ.everyMs)
    })

    test('[R5] calls at the same time take one token each', async () => {
      const limiter = makeLimiter()
      const calls = Array.from({ length: 30 }, () => limiter.take(WRITE, 'bob', NOON))
      expect((await Promise.all(calls)).filter((waitMs) => waitMs === 0)).toHaveLength(WRITE.burst)
    })

    test('[R5] a clock that is set back makes no user wait longer than one token takes', async () => {
      const limiter = makeLimiter()
      await takeMany(limiter, READ, READ.burst + 1, NOON)
      const hourBefore = NOON - 3_600_000
      expect(await limiter.take(READ, 'bob', hourBefore)).toBe(READ.everyMs)
      expect(await limiter.take(READ, 'bob', hourBefore + READ.everyMs)).toBe(0)
    })

    test('[R5] matches a reference token bucket', async () => {
      const steps = fc.array(fc.record({ user: fc.constantFrom('a', 'b', 'c'), afterMs: fc.nat(5_000) }), {
        maxLength: 60,
      })
      const sizes = fc.record({
        burst: fc.integer({ min: 1, max: 7 }),
        everyMs: fc.integer({ min: 1, max: 9_000 }),
      })
      await fc.assert(
        fc.asyncProperty(sizes, steps, async (size, all) => {
          const limiter = makeLimiter()
          const limit = { name: 'any', ...size }
          const references = new Map(['a', 'b', 'c'].map((user) => [user, createReferenceBucket(limit)]))
          let now = NOON
          for (const { user, afterMs } of all) {
            now += afterMs
            expect(await limiter.take(limit, user, now)).toBe(references.get(user)!(now))
          }
        }),
        { numRuns: runs },
      )
    })
  })
}
