import { describe, expect, test } from 'bun:test'
import { rateLimiterContract } from '../../../../testing/contracts/rate-limiter.ts'
import { createMemoryRateLimiter } from './memory.ts'

const NOON = Date.UTC(2030, 0, 1, 12)
const EVERY_MS = 30_000
const TWO = { name: 'read', burst: 2, everyMs: EVERY_MS }

rateLimiterContract('memory', createMemoryRateLimiter, { runs: 300 })

describe('the memory of the limiter of one process', () => {
  test('[R5] keeps no more users than it may, and a user who calls again and again stays', async () => {
    const limiter = createMemoryRateLimiter({ usersMax: 100 })
    for (let taken = 0; taken < TWO.burst; taken++) await limiter.take(TWO, 'busy', NOON)
    for (let user = 0; user < 1_000; user++) {
      expect(await limiter.take(TWO, `user-${user}`, NOON)).toBe(0)
      expect(await limiter.take(TWO, 'busy', NOON)).toBe(EVERY_MS)
      expect(limiter.size()).toBeLessThanOrEqual(100)
    }
    // Forgotten, so the bucket is full.
    expect(await limiter.take(TWO, 'user-0', NOON)).toBe(0)
    expect(await limiter.take(TWO, 'user-0', NOON)).toBe(0)
  })

  test('[R5] keeps no bucket that is full again', async () => {
    const limiter = createMemoryRateLimiter()
    for (let user = 0; user < 1_000; user++) await limiter.take(TWO, `user-${user}`, NOON)
    expect(limiter.size()).toBe(1_000)
    await limiter.take(TWO, 'last', NOON + 2 * TWO.burst * EVERY_MS)
    expect(limiter.size()).toBe(1)
  })
})
