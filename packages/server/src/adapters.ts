// The only file that chooses adapters: which archive, store, bus, log and limiter a configuration asks for. Commands that
// work on one of them beside a server open it here too.
import { parseDatabaseUrl } from './archive/database-url.ts'
import type { Archive } from './archive/port.ts'
import { createPostgresArchive } from './archive/postgres.ts'
import { createSqliteArchive } from './archive/sqlite.ts'
import { backUpSqlite, type SqliteBackup } from './archive/sqlite-backup.ts'
import { filesOthersCanRead } from './archive/sqlite-files.ts'
import type { FileUse } from './archive/sqlite-lock.ts'
import { createMemoryBus } from './bus/memory.ts'
import type { Bus } from './bus/port.ts'
import { createRedisBus } from './bus/redis.ts'
import type { Doubts } from './gateway/doubts.ts'
import { createMemoryRateLimiter } from './limits/memory.ts'
import type { RateLimiter } from './limits/port.ts'
import { createRedisRateLimiter } from './limits/redis.ts'
import { createMemoryLog, type MemoryLog } from './log/memory.ts'
import type { ChangeLog } from './log/port.ts'
import { createRedisLog } from './log/redis.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config/config.ts'
import type { Logger } from './platform/logger.ts'
import { connectRedis, type RedisConnection } from './redis/client.ts'
import { parseRedisUrl } from './redis/url.ts'
import { createMemoryStore } from './store/memory.ts'
import type { PresenceStore } from './store/port.ts'
import { createRedisStore } from './store/redis.ts'
import { LOG_ENTRIES_MAX } from './store/redis-scripts.ts'

const REDIS_READY_MS = 10_000
/** Gateways that notice a loss have announced themselves again by then. */
const ANNOUNCE_MS = 3_000
/** Brokers refuse a shorter time after which a consumer that died is replaced. */
const KAFKA_SESSION_MS_MIN = 6_000

/** A server says how it uses a SQLite file; commands beside it do not. */
export async function openArchive(config: Config, use?: FileUse): Promise<Archive> {
  const database = parseDatabaseUrl(config.databaseUrl)
  switch (database.kind) {
    case 'sqlite':
      return createSqliteArchive({ path: database.path, ...(use === undefined ? {} : { use }) })
    case 'postgres':
      return createPostgresArchive({ url: database.url, poolMax: config.databasePool })
    case 'invalid':
      throw new Error(database.message)
  }
}

/** Throws an error with a sentence where there is no database to copy. */
export function backUpDatabase(config: Config, target: string): SqliteBackup {
  const database = parseDatabaseUrl(config.databaseUrl)
  if (database.kind === 'invalid') throw new Error(database.message)
  if (database.kind === 'postgres')
    throw new Error(
      'database_url is PostgreSQL, which has its own program for backups: pg_dump --format=custom --file=backup.dump <database_url>',
    )
  return backUpSqlite(database.path, target)
}

/** Files of the database that other users of this machine can read; null where it is not a file. */
export function exposedDatabaseFiles(config: Config): string[] | null {
  const database = parseDatabaseUrl(config.databaseUrl)
  const isFile = database.kind === 'sqlite' && database.path !== ':memory:'
  return isFile ? filesOthersCanRead(database.path) : null
}

/** The state that is lost when everything stops, and what passes it on. */
export interface HotState {
  store: PresenceStore
  bus: Bus
  /** Written only while something consumes it. */
  log: ChangeLog
  /** Resolves when a group has handled what is in the log now; null with a log that outlives the process. */
  whenHandled: MemoryLog['whenHandled'] | null
  rateLimiter: RateLimiter
  loadForQuery: PresenceStore['load']
  /** Is told when a part of the store goes away and when all of it is back. */
  onOutages?: (listener: { begin(): void; end(): void }) => void
  close(): Promise<void>
}

export function openMemory({ logger, clock }: { logger: Logger; clock: Clock }): HotState {
  const log = createMemoryLog({ partitionCount: 1, clock, logger })
  const store = createMemoryStore({ log: (record) => void log.append([record]) })
  const bus = createMemoryBus({ onError: (error) => logger.error({ err: error }, 'a bus subscriber failed') })
  return {
    store,
    bus,
    log,
    whenHandled: log.whenHandled,
    rateLimiter: createMemoryRateLimiter(),
    loadForQuery: store.load,
    async close() {
      await log.close()
      await store.close()
      await bus.close()
    },
  }
}

/** The client of Kafka is loaded where it is configured, and nowhere else. */
export function topicsOf(config: Config, { clock, logger }: { clock: Clock; logger: Logger }) {
  const sessionMs = Math.max(config.gatewayLeaseMs, KAFKA_SESSION_MS_MIN)
  return async (topic: string): Promise<ChangeLog> => {
    const { openKafkaLog } = await import('./log/kafka.ts')
    return openKafkaLog({ brokers: config.kafkaBrokers, topic, sessionMs, clock, logger })
  }
}

/** For how long a shard that lost its memory settles. */
export const settleMsOf = ({ gatewayLeaseMs }: Config): number => gatewayLeaseMs + ANNOUNCE_MS

/** Doubts are reported when Redis was away, and when a part of it lost its memory. */
export async function openRedis(
  redisUrl: string,
  config: Config,
  options: { logger: Logger; clock: Clock; doubts: Doubts },
): Promise<HotState> {
  const { logger, clock, doubts } = options
  const onBack = () => doubts.report('the store was away')
  const url = parseRedisUrl(redisUrl)
  if (url.kind === 'invalid') throw new Error(url.message)
  const connection = connectRedis(url, { logger, clock, onBack })
  // Replicas may lag, so only queries read from them.
  const replicas = config.readReplicas ? connectRedis(url, { logger, clock, readFromReplicas: true }) : null
  try {
    await connection.ready(REDIS_READY_MS)
    await replicas?.ready(REDIS_READY_MS)
  } catch (error) {
    await Promise.all([connection.close(), replicas?.close()])
    throw error
  }
  return redisStateOn({ ...options, config, connection, replicas })
}

export interface RedisStateParts {
  config: Config
  logger: Logger
  clock: Clock
  doubts: Doubts
  connection: RedisConnection
  replicas: RedisConnection | null
  /** The number of shards, where it is not the usual one. */
  shards?: number
}

/** On connections that are open. */
export function redisStateOn(parts: RedisStateParts): HotState {
  const { config, logger, clock, doubts, connection, replicas, shards } = parts
  const settleMs = settleMsOf(config)
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
    async close() {
      await log.close()
      await bus.close()
      await store.close()
      await replicas?.close()
      await connection.close()
    },
  }
}
