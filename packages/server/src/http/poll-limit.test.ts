// The poll limit against a reference token bucket, and its memory with many users.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createPollLimit } from './poll-limit.ts'

const BURST = 5
const EVERY_MS = 30_000
const NOON = Date.UTC(2030, 0, 1, 12)

/** Tokens as a number that grows with time, as one would write it down first. */
function createBucket(burst: number, everyMs: number) {
  let tokens = burst
  let last = 0
  return (now: number): boolean => {
    tokens = Math.min(burst, tokens + (now - last) / everyMs)
    last = now
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

describe('the poll limit', () => {
  test('[R5] five at once, then one every thirty seconds, and it says how long to wait', () => {
    const limit = createPollLimit({ burst: BURST, everyMs: EVERY_MS })
    const at = (ms: number) => limit.take('bob', NOON + ms)
    expect([at(0), at(0), at(0), at(1), at(2)]).toEqual([0, 0, 0, 0, 0])
    expect(at(3)).toBe(29_997)
    expect(at(20_000)).toBe(10_000)
    expect(at(29_999)).toBe(1)
    expect(at(30_000)).toBe(0)
    expect(at(30_000)).toBe(30_000)
    expect(at(60_000)).toBe(0)
  })

  test('[R5] after long enough there are five again, and never more', () => {
    const limit = createPollLimit({ burst: BURST, everyMs: EVERY_MS })
    for (const day of [0, 1, 2]) {
      const now = NOON + day * 86_400_000
      const waits = Array.from({ length: BURST + 1 }, () => limit.take('bob', now))
      expect(waits).toEqual([0, 0, 0, 0, 0, EVERY_MS])
    }
  })

  test('[R5] users have buckets of their own', () => {
    const limit = createPollLimit({ burst: 1, everyMs: EVERY_MS })
    expect(limit.take('bob', NOON)).toBe(0)
    expect(limit.take('alice', NOON)).toBe(0)
    expect(limit.take('__proto__', NOON)).toBe(0)
    expect(limit.take('bob', NOON)).toBe(EVERY_MS)
  })

  test('[R5] matches a reference token bucket', () => {
    const steps = fc.array(fc.record({ who: fc.constantFrom('a', 'b', 'c'), afterMs: fc.nat(5_000) }), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 9_000 }),
        steps,
        (burst, everyMs, all) => {
          const limit = createPollLimit({ burst, everyMs })
          const buckets = {
            a: createBucket(burst, everyMs),
            b: createBucket(burst, everyMs),
            c: createBucket(burst, everyMs),
          }
          let now = 1
          for (const { who, afterMs } of all) {
            // Not at the very instant of a new token, where a sum of fractions may err by a hair.
            now += afterMs + 0.5
            const waitMs = limit.take(who, now)
            expect(waitMs === 0).toBe(buckets[who](now))
            expect(waitMs).toBeWithin(0, everyMs + 1)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test('[R5] what it says to wait is enough, and a moment less is not', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 2, max: 60_000 }),
        fc.nat(10_000),
        (burst, everyMs, later) => {
          const limit = createPollLimit({ burst, everyMs })
          for (let taken = 0; taken < burst; taken++) expect(limit.take('bob', NOON)).toBe(0)
          const askedAt = NOON + Math.min(later, everyMs - 1)
          const waitMs = limit.take('bob', askedAt)
          expect(waitMs).toBeGreaterThan(0)
          expect(limit.take('bob', askedAt + waitMs - 1)).toBe(1)
          expect(limit.take('bob', askedAt + waitMs)).toBe(0)
        },
      ),
    )
  })

  test('[R5] a clock that is set back makes no user wait longer than one token takes', () => {
    const limit = createPollLimit({ burst: BURST, everyMs: EVERY_MS })
    for (let taken = 0; taken < BURST; taken++) limit.take('bob', NOON)
    const hourBefore = NOON - 3_600_000
    expect(limit.take('bob', hourBefore)).toBe(EVERY_MS)
    expect(limit.take('bob', hourBefore + EVERY_MS)).toBe(0)
  })

  test('[R5] remembers no more users than it may, and forgets the least recent first', () => {
    const limit = createPollLimit({ burst: 2, everyMs: EVERY_MS, usersMax: 3 })
    const use = (user: string) => limit.take(user, NOON)
    for (const user of ['a', 'a', 'b', 'b', 'c', 'c']) expect(use(user)).toBe(0)
    // A user who takes a token later is no longer the least recent one.
    expect(limit.take('a', NOON + EVERY_MS)).toBe(0)
    expect(limit.take('d', NOON + EVERY_MS)).toBe(0)
    expect(limit.take('a', NOON + EVERY_MS)).toBe(EVERY_MS)
    // Forgotten, so that the bucket is full; the others have the one token of the time that passed.
    expect([1, 2].map(() => limit.take('b', NOON + EVERY_MS))).toEqual([0, 0])
  })
})
