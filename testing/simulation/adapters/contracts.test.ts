// The simulated Redis and database pass the contracts of the real ones, so that the simulation is not kinder than they
// are. Virtual time is driven by the event loop here: a millisecond a turn.
import { afterAll, describe } from 'bun:test'
import { createSqliteArchive } from '../../../packages/server/src/archive/sqlite.ts'
import { createRedisBus } from '../../../packages/server/src/bus/redis.ts'
import { createRedisLog, type RedisLogOptions } from '../../../packages/server/src/log/redis.ts'
import { createLogger } from '../../../packages/server/src/platform/logger.ts'
import { connectOver, type RedisConnection } from '../../../packages/server/src/redis/client.ts'
import { createRedisStore } from '../../../packages/server/src/store/redis.ts'
import { archiveContract } from '../../contracts/archive.ts'
import { busContract } from '../../contracts/bus.ts'
import { changeLogContract } from '../../contracts/change-log.ts'
import type { DoomedConsumer, LogOnTest, MakeLog } from '../../contracts/change-log-under-test.ts'
import { storeContract } from '../../contracts/store.ts'
import { createMachine, type Machine } from '../time/machine.ts'
import { createNetwork } from '../time/network.ts'
import { randomOf } from '../time/random.ts'
import { createTimeline } from '../time/timeline.ts'
import { createSimulatedDatabase } from './archive.ts'
import { openSimulatedLink, type SimulatedRedis } from './redis-link.ts'
import { createRedisNode } from './redis-node.ts'

const quiet = createLogger({ level: 'silent' })
const timeline = createTimeline(Date.now())
const network = createNetwork(timeline, randomOf(1, 'network'), 1)
let isOver = false
afterAll(() => {
  isOver = true
})
const pump = (): void => {
  if (!isOver) setImmediate(pump)
  timeline.runUntil(timeline.now() + 1)
}
setImmediate(pump)

let names = 0
const newMachine = (): Machine =>
  createMachine({
    name: `process-${++names}`,
    timeline,
    random: randomOf(names, 'machine'),
    lateMsMax: 2,
    skewMs: 0,
    drift: 0,
  })
const newPrefix = () => `test-${++names}:`

async function connect(redis: SimulatedRedis, machine: Machine): Promise<RedisConnection> {
  const { clock } = machine
  const connection = connectOver((options) => openSimulatedLink(redis, machine, options), {
    logger: quiet,
    clock,
  })
  await connection.ready(10_000)
  return connection
}

function redisOf(nodes: number): SimulatedRedis {
  return {
    nodes: Array.from({ length: nodes }, (_, index) =>
      createRedisNode({ name: `redis-${nodes}-${index}`, timeline }),
    ),
    isCluster: nodes > 1,
    network,
    timeline,
    random: randomOf(nodes, 'wires'),
  }
}

function makeLogOn(redis: SimulatedRedis): MakeLog {
  async function make(more: Partial<RedisLogOptions> = {}): Promise<LogOnTest> {
    const prefix = newPrefix()
    const open = async (machine: Machine) =>
      createRedisLog({
        client: await connect(redis, machine),
        clock: machine.clock,
        logger: quiet,
        shards: 4,
        leaseMs: 5_000,
        pauseMs: 1,
        prefix,
        ...more,
      })
    return { open: () => open(newMachine()), doom: (group) => doom(group, open) }
  }
  return { isShared: true, make: () => make(), makeSmall: () => make({ entriesMax: 10 }) }
}

/** A consumer in a simulated process that crashes. */
async function doom(
  group: string,
  open: (machine: Machine) => Promise<ReturnType<typeof createRedisLog>>,
): Promise<DoomedConsumer> {
  const machine = newMachine()
  const log = await open(machine)
  let handled = 0
  let waiting: { count: number; resolve(): void }[] = []
  await log.consume(group, 'oldest', {
    async handle(_, entries) {
      handled += entries.length
      for (const { count, resolve } of waiting) if (handled >= count) resolve()
      waiting = waiting.filter(({ count }) => handled < count)
    },
  })
  return {
    handled: (count) =>
      handled >= count ? Promise.resolve() : new Promise((resolve) => void waiting.push({ count, resolve })),
    async kill() {
      machine.crash()
    },
  }
}

describe.each([1, 3])('a simulated redis of %d nodes', (nodes) => {
  const redis = redisOf(nodes)
  const machine = newMachine()
  const client = () => connect(redis, machine)

  storeContract(
    'simulated',
    async () => createRedisStore({ client: await client(), clock: machine.clock, prefix: newPrefix() }),
    { modelRuns: 20 },
  )
  busContract('simulated', async (onError) =>
    createRedisBus({ connection: await client(), clock: machine.clock, prefix: newPrefix(), onError }),
  )
  changeLogContract('simulated', makeLogOn(redis))
})

archiveContract(
  'simulated',
  async () => {
    const archive = await createSqliteArchive({ path: ':memory:' })
    const database = createSimulatedDatabase({ archive, network, timeline, random: randomOf(1, 'database') })
    return database.reachedFrom(newMachine())
  },
  { propertyRuns: 20 },
)
