import { describe } from 'bun:test'
import {
  isSkipped,
  newPrefix,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import { storeContract } from '../../../../testing/contracts/store.ts'
import { createRedisStore } from './redis.ts'

const MODEL_RUNS = 10

describe.skipIf(isSkipped)(`redis store, single server${reason}`, () => {
  const { connection } = useRedis()
  const makeStore = async () => createRedisStore({ client: connection(), prefix: newPrefix() })
  storeContract('single server', makeStore, { modelRuns: MODEL_RUNS })
})

describe.skipIf(isSkipped)(`redis store, cluster${reason}`, () => {
  const { connection } = useRedisCluster()
  const makeStore = async () => createRedisStore({ client: connection(), prefix: newPrefix() })
  storeContract('cluster', makeStore, { modelRuns: MODEL_RUNS })
})
