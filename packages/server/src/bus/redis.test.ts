import { describe } from 'bun:test'
import { busContract } from '../../../../testing/contracts/bus.ts'
import {
  isSkipped,
  newPrefix,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import { systemClock } from '../platform/clock.ts'
import { createRedisBus } from './redis.ts'

describe.skipIf(isSkipped)(`redis bus, single server${reason}`, () => {
  const { connection } = useRedis()
  busContract('single server', async (onError) =>
    createRedisBus({ connection: connection(), clock: systemClock, prefix: newPrefix(), onError }),
  )
})

describe.skipIf(isSkipped)(`redis bus, cluster${reason}`, () => {
  const { connection } = useRedisCluster()
  busContract('cluster', async (onError) =>
    createRedisBus({ connection: connection(), clock: systemClock, prefix: newPrefix(), onError }),
  )
})
