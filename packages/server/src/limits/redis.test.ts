import { describe, expect, test } from 'bun:test'
import { rateLimiterContract } from '../../../../testing/contracts/rate-limiter.ts'
import {
  isSkipped,
  newPrefix,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import type { RedisClient } from '../redis/client.ts'
import { createMemoryRateLimiter } from './memory.ts'
import type { RateLimiter } from './port.ts'
import { createRedisRateLimiter } from './redis.ts'

const NOON = Date.UTC(2030, 0, 1, 12)
const WRITE = { name: 'write', burst: 20, everyMs: 200 }
const RUNS = 15

const shardOf = (userId: string) => userId.length % 64

function limiterOn(client: Pick<RedisClient, 'run'>, prefix = newPrefix()): RateLimiter {
  return createRedisRateLimiter({ client, shardOf, local: createMemoryRateLimiter(), prefix })
}

/** Counts the scripts that are run. */
function counting(client: Pick<RedisClient, 'run'>) {
  const counted = { runs: 0, run: (...call: Parameters<RedisClient['run']>) => client.run(...call) }
  return Object.assign(counted, {
    run(...call: Parameters<RedisClient['run']>) {
      counted.runs++
      return client.run(...call)
    },
  })
}

async function takeMany(limiters: readonly RateLimiter[], times: number, now: number): Promise<number[]> {
  const waits: number[] = []
  for (let taken = 0; taken < times; taken++)
    waits.push(await limiters[taken % limiters.length]!.take(WRITE, 'bob', now))
  return waits
}

describe.skipIf(isSkipped)(`rate limiter in redis, single server${reason}`, () => {
  const { server, connection } = useRedis()
  rateLimiterContract('single server', () => limiterOn(connection()), { runs: RUNS })

  test('[R5] processes share the bucket of a user', async () => {
    const prefix = newPrefix()
    const limiters = [1, 2, 3].map(() => limiterOn(connection(), prefix))
    expect(await takeMany(limiters, 24, NOON)).toEqual([...Array(20).fill(0), ...Array(4).fill(200)])
    expect(await takeMany(limiters, 3, NOON + 200)).toEqual([0, 200, 200])
  })

  test('[R5] one command for a token, and none while a refusal holds', async () => {
    const client = counting(connection())
    const limiters = [limiterOn(client)]
    await takeMany(limiters, 20, NOON)
    expect(client.runs).toBe(20)
    await takeMany(limiters, 1_000, NOON)
    expect(client.runs).toBe(21)
    expect(await takeMany(limiters, 2, NOON + 200)).toEqual([0, 200])
    expect(client.runs).toBe(23)
  })

  test('[R5] [X6] a bucket is one key that expires soon after it is full, without the id of the user', async () => {
    const prefix = newPrefix()
    const limiter = limiterOn(connection(), prefix)
    for (let taken = 0; taken < 30; taken++)
      await limiter.take({ ...WRITE, everyMs: 60_000 }, 'bob-q7x', NOON)
    const keys = (await server().cli('KEYS', `${prefix}*`)).split('\n').filter(Boolean)
    expect(keys).toHaveLength(1)
    expect(keys[0]).toStartWith(`${prefix}{s7}:l:write:`)
    expect(keys[0]).not.toContain('bob')
    const leftMs = Number(await server().cli('PTTL', keys[0]!))
    expect(leftMs).toBeGreaterThan(0)
    expect(leftMs).toBeLessThanOrEqual(20 * 60_000 + 10_000)
  })
})

describe.skipIf(isSkipped)(`rate limiter in redis, cluster${reason}`, () => {
  const { connection } = useRedisCluster()
  rateLimiterContract('cluster', () => limiterOn(connection()), { runs: RUNS })
})

describe('a rate limiter whose redis does not answer', () => {
  test('[R5] counts by itself, and by redis again when it is back', async () => {
    let isAway = true
    let asked = 0
    const run = async () => {
      asked++
      if (isAway) throw new Error('redis is away')
      return 0
    }
    const limiter = limiterOn({ run })
    expect(await takeMany([limiter], 21, NOON)).toEqual([...Array(20).fill(0), 200])
    // A frozen Redis takes a while to fail, so not every call waits for that.
    expect(asked).toBe(1)
    isAway = false
    expect(await takeMany([limiter], 2, NOON + 5_000)).toEqual([0, 0])
    expect(asked).toBe(3)
  })
})
