// What processes on one Redis must agree on before they start.
import { describe, expect, test } from 'bun:test'
import { isSkipped, reason, useRedis } from '../../../testing/contracts/redis-under-test.ts'
import { createDoubts } from './gateway/doubts.ts'
import { systemClock as clock } from './platform/clock.ts'
import { createLogger } from './platform/logger.ts'
import { openRedisState } from './redis-adapters.ts'

describe.skipIf(isSkipped)(`processes on one Redis${reason}`, () => {
  const { server } = useRedis()
  const open = (redisShards: number) =>
    openRedisState(server().url, {
      logger: createLogger({ level: 'silent' }),
      clock,
      doubts: createDoubts(),
      settleMs: 1,
      config: { readReplicas: false, redisShards },
    })

  test('[C2] have the same number of shards, and one with another number does not start', async () => {
    const first = await open(16)
    expect(first.store.shardCount).toBe(16)
    const second = await open(16)
    await second.close()
    const refused = open(64)
    await expect(refused).rejects.toThrow(
      'redis_shards is 64, and 16 for the processes on this Redis; set it to 16',
    )
    await first.close()
    await server().cli('FLUSHALL')
    await (await open(64)).close()
  })
})
