// ChangeLog in Redis Streams: one stream for each shard of the store, so that the store can append to it in the same
// step as it commits. Groups do not use the groups of Redis, which spread the entries of a stream over consumers and so
// lose the order; a partition has one consumer of a group by a lease. A shard that was flushed has lost its stream and
// offsets together, and its groups go on with what comes then.
import type { Clock } from '../platform/clock.ts'
import { randomName } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import { groupByShard } from '../platform/shards.ts'
import type { RedisClient } from '../redis/client.ts'
import { createAppending } from './appending.ts'
import { createConsumptions } from './consumptions.ts'
import { checkGroupName } from './group-name.ts'
import { createHanding } from './handing.ts'
import type { ChangeLog } from './port.ts'
import { startRedisConsumer } from './redis-consumer.ts'
import { createRedisPartitions } from './redis-partitions.ts'
import { APPEND, BEGIN, COUNT, REWIND } from './redis-scripts.ts'

const SHARDS = 64
/** A shard keeps at most so many: with 64 shards 640,000 in all, which Redis holds in memory. */
const ENTRIES_MAX = 10_000
const LEASE_MS = 6_000
const PAUSE_MS = 100
/** Entries counted by one call, because Redis runs nothing else meanwhile. */
const COUNTED_PER_CALL = 1_000
const OFFSET = /^\d+-\d+$/

export interface RedisLogOptions {
  client: RedisClient
  clock: Clock
  logger: Logger
  /** The shards of the store. */
  shards?: number
  /** The prefix of all keys, as for the store. */
  prefix?: string
  /** How many entries a shard keeps, or some more. */
  entriesMax?: number
  /** After this time a consumer that died is replaced. */
  leaseMs?: number
  /** The first pause after a batch was rejected. */
  pauseMs?: number
}

export function createRedisLog(options: RedisLogOptions): ChangeLog {
  const { client, clock, logger, shards = SHARDS, prefix = '' } = options
  const { entriesMax = ENTRIES_MAX, leaseMs = LEASE_MS, pauseMs = PAUSE_MS } = options
  const shardKeys = Array.from({ length: shards }, (_, shard) => `${prefix}{s${shard}}:`)
  const shardKey = (shard: number): string => shardKeys[shard]!
  const consumptions = createConsumptions()
  let isClosed = false

  const appending = createAppending(async (shard, records) => {
    const pairs = records.flatMap(({ userId, text }) => [userId, text])
    await client.run(APPEND, shardKey(shard), [entriesMax, ...pairs])
  })

  function checkOpen(): void {
    if (isClosed) throw new Error('the log is closed')
  }

  async function lagOf(group: string, shard: number): Promise<number> {
    let total = 0
    let from = ''
    do {
      const args = [group, from, COUNTED_PER_CALL]
      const [count, last] = (await client.run(COUNT, shardKey(shard), args)) as [number, string]
      total += count
      from = count < COUNTED_PER_CALL ? '' : last
    } while (from !== '')
    return total
  }

  return {
    partitionCount: shards,
    async append(records) {
      checkOpen()
      const groups = groupByShard(records, ({ userId }) => userId, shards, Number.POSITIVE_INFINITY)
      await Promise.all(groups.map(({ shard, items }) => appending.put(shard, items)))
    },
    async consume(group, start, consumer) {
      checkOpen()
      checkGroupName(group)
      const calls = client.isCluster ? shardKeys.map((key) => [key]) : [shardKeys]
      await Promise.all(calls.map((keys) => client.run(BEGIN, keys[0]!, [group, start, ...keys])))
      const name = randomName('c-')
      const consumption = await startRedisConsumer({
        partitions: createRedisPartitions({ client, prefix, shardKey, group, name, leaseMs }),
        partitionCount: shards,
        name,
        leaseMs,
        consumer,
        handing: createHanding({ group, consumer, pauseMs, clock, logger }),
        clock,
      })
      return consumptions.add(consumption)
    },
    async rewind(group, partition, offset) {
      checkOpen()
      checkGroupName(group)
      if (shardKeys[partition] === undefined) throw new RangeError(`no partition ${partition}`)
      if (offset !== null && !OFFSET.test(offset)) throw new Error(`not an offset: ${offset}`)
      const isDone = await client.run(REWIND, shardKey(partition), [group, offset ?? '0-0'])
      if (isDone === 0) throw new Error(`${group} is reading partition ${partition}`)
    },
    async lag(group) {
      const lags = await Promise.all(shardKeys.map((_, shard) => lagOf(group, shard)))
      return lags.reduce((sum, lag) => sum + lag, 0)
    },
    // The creator of the connection closes it.
    async close() {
      isClosed = true
      await consumptions.stopAll()
      await appending.idle()
    },
  }
}
