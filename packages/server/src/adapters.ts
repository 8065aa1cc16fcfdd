// Chooses adapters: which archive, store, bus, log and limiter a configuration asks for. Commands that work on one of
// them beside a server open it here too. The clients of Redis, PostgreSQL and Kafka are loaded where they are configured,
// and nowhere else.
import { parseDatabaseUrl } from './archive/database-url.ts'
import type { Archive } from './archive/port.ts'
import { createSqliteArchive } from './archive/sqlite.ts'
import { backUpSqlite, type SqliteBackup } from './archive/sqlite-backup.ts'
import { filesOthersCanRead } from './archive/sqlite-files.ts'
import type { FileUse } from './archive/sqlite-lock.ts'
import { createMemoryBus } from './bus/memory.ts'
import type { Bus } from './bus/port.ts'
import type { Doubts } from './gateway/doubts.ts'
import { createMemoryRateLimiter } from './limits/memory.ts'
import type { RateLimiter } from './limits/port.ts'
import { createMemoryLog, type MemoryLog } from './log/memory.ts'
import type { ChangeLog } from './log/port.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config/config.ts'
import type { Logger } from './platform/logger.ts'
import { createMemoryStore } from './store/memory.ts'
import type { PresenceStore } from './store/port.ts'

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
    case 'postgres': {
      const { createPostgresArchive } = await import('./archive/postgres.ts')
      return createPostgresArchive({ url: database.url, poolMax: config.databasePool })
    }
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
  const { openRedisState } = await import('./redis-adapters.ts')
  return openRedisState(redisUrl, { ...options, config, settleMs: settleMsOf(config) })
}
