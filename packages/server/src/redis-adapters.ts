// The store, bus, log and limiter on Redis, over one connection. A file apart from adapters.ts, because loading it takes
// memory that a server without Redis should not need.
import { createRedisBus } from './bus/redis.ts'
import type { Doubts } from './gateway/doubts.ts'
import { createMemoryRateLimiter } from './limits/memory.ts'
import { createRedisRateLimiter } from './limits/redis.ts'
import { createRedisLog } from './log/redis.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config/config.ts'
import type { Logger } from './platform/logger.ts'
import { connectRedis, type RedisConnection } from './redis/client.ts'
import { parseRedisUrl } from './redis/url.ts'
import { createRedisStore } from './store/redis.ts'
import { LOG_ENTRIES_MAX } from './store/redis-scripts.ts'

const READY_MS = 10_000
/** Beside the leases, which are apart from the shards. */
const SHARDS_KEY = '{leases}:shards'

export interface RedisOptions {
  logger: Logger
  clock: Clock
  doubts: Doubts
  /** For how long a shard that lost its memory settles. */
  settleMs: number
}

export async function openRedisState(
  redisUrl: string,
  options: RedisOptions & { config: Pick<Config, 'readReplicas' | 'redisShards'> },
) {
  const { logger, clock, doubts, config } = options
  const onBack = () => doubts.report('the store was away')
  const url = parseRedisUrl(redisUrl)
  if (url.kind === 'invalid') throw new Error(url.message)
  const connection = connectRedis(url, { logger, clock, onBack })
  // Replicas may lag, so only queries read from them.
  const replicas = config.readReplicas ? connectRedis(url, { logger, clock, readFromReplicas: true }) : null
  try {
    await connection.ready(READY_MS)
    await replicas?.ready(READY_MS)
    await agreeOnShards(connection, config.redisShards)
  } catch (error) {
    await Promise.all([connection.close(), replicas?.close()])
    throw error
  }
  return redisStateOn({ ...options, connection, replicas, shards: config.redisShards })
}

/** A user is in another shard when their number is another, so processes that differ would not know each other's users. */
async function agreeOnShards(connection: RedisConnection, shards: number): Promise<void> {
  await connection.send('set', [SHARDS_KEY, shards, 'NX'])
  const agreed = Number(await connection.send('get', [SHARDS_KEY]))
  if (agreed === shards) return
  throw new Error(
    `redis_shards is ${shards}, and ${agreed} for the processes on this Redis; set it to ${agreed}, or stop them all and empty Redis`,
  )
}

export interface RedisStateParts extends RedisOptions {
  connection: RedisConnection
  replicas: RedisConnection | null
  /** The number of shards, where it is not the usual one. */
  shards?: number
}

/** On connections that are open. */
export function redisStateOn(parts: RedisStateParts) {
  const { logger, clock, doubts, settleMs, connection, replicas, shards } = parts
  const onShardsLost = (lost: readonly number[]) =>
    doubts.report('shards of the store lost their memory', lost)
  const store = createRedisStore({
    client: connection,
    replicas,
    clock,
    settleMs,
    onShardsLost,
    ...(shards !== undefined && { shards }),
  })
  const onError = (error: unknown) => logger.error({ err: error }, 'a bus subscriber failed')
  const bus = createRedisBus({ connection, clock, onError })
  const log = createRedisLog({
    client: connection,
    clock,
    logger,
    shards: store.shardCount,
    entriesMax: LOG_ENTRIES_MAX,
  })
  const local = createMemoryRateLimiter()
  const rateLimiter = createRedisRateLimiter({ client: connection, shardOf: store.shardOf, local })
  return {
    store,
    bus,
    log,
    whenHandled: null,
    rateLimiter,
    loadForQuery: store.loadForQuery,
    onOutages: connection.onOutages,
    async close(): Promise<void> {
      await log.close()
      await bus.close()
      await store.close()
      await replicas?.close()
      await connection.close()
    },
  }
}
