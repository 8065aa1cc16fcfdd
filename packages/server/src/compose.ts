// The only file that chooses adapters. From a configuration it builds the pipeline and starts it. Each part
// is given parts that exist already, and no part reaches for a later one.
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
import { startFanout } from './fanout/fanout.ts'
import { createHistoryConsumer } from './fanout/history.ts'
import { startHistorySweep } from './fanout/history-sweep.ts'
import { createKafkaRelay } from './fanout/kafka-relay.ts'
import { createDoubts, type Doubts } from './gateway/doubts.ts'
import { startGateway } from './gateway/gateway.ts'
import { createAccess } from './http/access.ts'
import { startHttpApp } from './http/http-app.ts'
import { createMemoryRateLimiter } from './limits/memory.ts'
import type { RateLimiter } from './limits/port.ts'
import { createRedisRateLimiter } from './limits/redis.ts'
import { createMemoryLog } from './log/memory.ts'
import type { ChangeLog } from './log/port.ts'
import { createRedisLog } from './log/redis.ts'
import { createFeed } from './ops/feed.ts'
import type { Clock } from './platform/clock.ts'
import { type Config, warningsAbout } from './platform/config/config.ts'
import { startHousekeeping } from './platform/housekeeping.ts'
import { randomName } from './platform/ids.ts'
import type { Logger } from './platform/logger.ts'
import { startLoopWatch } from './platform/loop-watch.ts'
import { createSteadyClock } from './platform/steady-clock.ts'
import { createStoreClock } from './platform/store-clock.ts'
import { createTally } from './platform/tally.ts'
import { toPresence } from './presence/core/view.ts'
import { rememberHere, restore } from './presence/pipeline/restore.ts'
import { SWEEPER_PREFIX, startSweeper } from './presence/pipeline/sweeper.ts'
import { createPresence } from './presence/presence.ts'
import { connectRedis } from './redis/client.ts'
import { parseRedisUrl } from './redis/url.ts'
import { createMemoryStore } from './store/memory.ts'
import type { PresenceStore } from './store/port.ts'
import { createRedisStore } from './store/redis.ts'
import { LOG_ENTRIES_MAX } from './store/redis-scripts.ts'
import { openStreaming } from './streaming/streaming.ts'

/** Often enough that a crash is dated to within five seconds. */
const ALIVE_EVERY_MS = 2_000
const REDIS_READY_MS = 10_000
/** Gateways that notice a loss have announced themselves again by then. */
const ANNOUNCE_MS = 3_000
/** Brokers refuse a shorter time after which a consumer that died is replaced. */
const KAFKA_SESSION_MS_MIN = 6_000
/** Users named in a log line. */
const LOST_NAMED_MAX = 10

export interface Running {
  url: string
  /** Null where gRPC is off. */
  grpc: { address: string; isPicked: boolean } | null
  /** Resolves with the number of users whose last change could not be made durable. */
  stop(reason: string): Promise<number>
}

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

interface HotState {
  store: PresenceStore
  bus: Bus
  /** Null where no part of the deployment consumes it. */
  log: ChangeLog | null
  rateLimiter: RateLimiter
  loadForQuery: PresenceStore['load']
  close(): Promise<void>
}

function openMemory(isLogged: boolean, { logger, clock }: { logger: Logger; clock: Clock }): HotState {
  const log = isLogged ? createMemoryLog({ partitionCount: 1, clock, logger }) : null
  const store = createMemoryStore(log === null ? {} : { log: (record) => void log.append([record]) })
  const bus = createMemoryBus({ onError: (error) => logger.error({ err: error }, 'a bus subscriber failed') })
  return {
    store,
    bus,
    log,
    rateLimiter: createMemoryRateLimiter(),
    loadForQuery: store.load,
    async close() {
      await log?.close()
      await store.close()
      await bus.close()
    },
  }
}

/** The client of Kafka is loaded where it is configured, and nowhere else. */
function topicsOf(config: Config, { clock, logger }: { clock: Clock; logger: Logger }) {
  const sessionMs = Math.max(config.gatewayLeaseMs, KAFKA_SESSION_MS_MIN)
  return async (topic: string): Promise<ChangeLog> => {
    const { openKafkaLog } = await import('./log/kafka.ts')
    return openKafkaLog({ brokers: config.kafkaBrokers, topic, sessionMs, clock, logger })
  }
}

/** Whether something consumes the change log. Otherwise nothing is written to it. */
const isLogged = ({ kafkaBrokers, historyDays }: Config): boolean =>
  kafkaBrokers.length > 0 || historyDays > 0

/** Doubts are reported when Redis was away, and when a part of it lost its memory. */
async function openRedis(
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
  const settleMs = config.gatewayLeaseMs + ANNOUNCE_MS
  const onShardsLost = (shards: readonly number[]) =>
    doubts.report('shards of the store lost their memory', shards)
  const store = createRedisStore({ client: connection, replicas, clock, settleMs, onShardsLost })
  const onError = (error: unknown) => logger.error({ err: error }, 'a bus subscriber failed')
  const bus = createRedisBus({ connection, clock, onError })
  const log = isLogged(config)
    ? createRedisLog({
        client: connection,
        clock,
        logger,
        shards: store.shardCount,
        entriesMax: LOG_ENTRIES_MAX,
      })
    : null
  const local = createMemoryRateLimiter()
  const rateLimiter = createRedisRateLimiter({ client: connection, shardOf: store.shardOf, local })
  return {
    store,
    bus,
    log,
    rateLimiter,
    loadForQuery: store.loadForQuery,
    async close() {
      await log?.close()
      await bus.close()
      await store.close()
      await replicas?.close()
      await connection.close()
    },
  }
}

export interface Deployment {
  gateways: number
  sweepers: number
  /** How far the clock of this machine is behind that of the store. */
  clockOffsetMs: number
}

/** Processes on the shared store right now, by their leases; null where there is no shared store. */
export async function lookAround(
  config: Config,
  options: { logger: Logger; clock: Clock },
): Promise<Deployment | null> {
  if (config.redisUrl === null) return null
  const hot = await openRedis(config.redisUrl, config, { ...options, doubts: createDoubts() })
  try {
    const clock = await createStoreClock(options.clock, () => hot.store.time(), options.logger)
    clock.stop()
    const names = await hot.store.liveLeases(clock.now())
    const sweepers = names.filter((name) => name.startsWith(SWEEPER_PREFIX)).length
    return { gateways: names.length - sweepers, sweepers, clockOffsetMs: clock.offsetMs() }
  } finally {
    await hot.close()
  }
}

export async function start(config: Config, options: { logger: Logger; clock: Clock }): Promise<Running> {
  const { logger } = options
  const { policy, rules, roles, historyDays } = config
  const isShared = config.redisUrl !== null
  const doubts = createDoubts()

  const archive = await openArchive(config, isShared ? 'together' : 'alone')
  const hot =
    config.redisUrl === null
      ? openMemory(isLogged(config), { logger, clock: options.clock })
      : await openRedis(config.redisUrl, config, { logger, clock: options.clock, doubts })
  const { bus, store } = hot
  const local = isShared ? options.clock : createSteadyClock(options.clock, logger)
  const clock = await createStoreClock(local, () => hot.store.time(), logger)
  await archive.migrate()
  await store.lookAtShards(clock.now())
  // With a shared store, the store knows who is present, and leases tell when that ends.
  if (!isShared) {
    const users = await restore({ archive, store, policy, leaseMs: config.gatewayLeaseMs, now: clock.now() })
    if (users > 0) logger.info({ users }, 'users who were present before the restart get time to come back')
  }

  const tally = createTally()
  const feed = createFeed(clock)
  const onTrouble = () => doubts.report('events could not be committed')
  const streaming =
    config.kafkaBrokers.length > 0
      ? await openStreaming({
          policy,
          openTopic: topicsOf(config, { clock, logger }),
          bus,
          clock,
          logger,
          onTrouble,
        })
      : null
  const presence = createPresence({
    archive,
    store,
    bus,
    isLogged: hot.log !== null,
    ...(streaming && { createRemoteTracker: streaming.createRemoteTracker }),
    loadForQuery: hot.loadForQuery,
    isStoreVolatile: !isShared,
    cacheMs: isShared ? config.readCacheMs : 0,
    policy,
    rules,
    historyDays: config.historyDays,
    clock,
    logger,
    onChange(userId, record) {
      tally.changes++
      feed.show(() => toPresence(userId, record), clock.now())
    },
    onTrouble,
  })
  const { tracker, archivist, dutySweep } = presence
  const owner =
    streaming !== null && roles.includes('presence')
      ? await streaming.startOwner(presence.createOwnTracker)
      : null
  const fanout =
    hot.log !== null && roles.includes('fanout')
      ? await startFanout({
          log: hot.log,
          consumers: {
            ...(historyDays > 0 && { history: createHistoryConsumer({ archive, historyDays, clock }) }),
            ...(streaming && { kafka: createKafkaRelay(streaming.changes) }),
          },
          clock,
          logger,
        })
      : null
  const historySweep = roles.includes('fanout')
    ? startHistorySweep({ archive, historyDays, clock, logger })
    : null
  const cluster = isShared ? { name: randomName(SWEEPER_PREFIX), leaseMs: config.gatewayLeaseMs } : null
  const sweeper = roles.includes('presence')
    ? startSweeper({ store, tracker, dutySweep, clock, logger, cluster })
    : null
  presence.eraser.takeOver()
  await archive.markAlive(clock.now())
  const aliveTimer = clock.every(ALIVE_EVERY_MS, () => {
    archive
      .markAlive(clock.now())
      .catch((error) => logger.warn({ err: error }, 'could not mark the server alive'))
  })

  const loopWatch = startLoopWatch(clock, (lateMs) => {
    tally.loopBlockMsMax = Math.max(tally.loopBlockMsMax, lateMs)
  })
  const housekeeping = startHousekeeping(clock, () => tally.connectionsOpened + tally.connectionsClosed)

  const parts = { ...presence, config, store, bus, archive, tally, clock, logger }
  const gateway = roles.includes('gateway') ? await startGateway({ ...parts, doubts }) : null
  // Tokens have instants of other machines, so they are compared with the true time.
  const tokenClock = isShared ? clock : options.clock
  const access = createAccess({ ...parts, rateLimiter: hot.rateLimiter, tokenClock })
  const app = startHttpApp({
    ...parts,
    access,
    feed,
    gateway,
    logLag: () => fanout?.lags() ?? {},
    processGauges: () => ({
      trackerDepth: tracker.depth(),
      sweepLagMs: sweeper?.lagMs() ?? 0,
      archiveBacklog: archivist.backlog(),
      clockOffsetMs: isShared ? clock.offsetMs() : clock.now() - options.clock.now(),
    }),
  })
  const grpc =
    config.grpcPort === null
      ? null
      : await (await import('./grpc/grpc-app.ts')).startGrpcApp({
          ...parts,
          port: config.grpcPort,
          access,
          gateway,
          tokenClock,
        })
  if (grpc?.isPicked && config.grpcPort !== 0)
    logger.warn(`port ${config.grpcPort} is taken, so gRPC is on ${grpc.address}; set grpc_port for another`)
  for (const { detail, mend } of warningsAbout(config)) logger.warn(`${detail}; ${mend}`)
  logger.info(
    { url: app.url, grpc: grpc?.address, roles, dev: config.dev, policy: config.policyName },
    'started',
  )

  return {
    url: app.url,
    grpc,
    async stop(reason) {
      logger.info({ reason }, 'stopping')
      app.drain()
      grpc?.drain()
      if (gateway !== null && !isShared) {
        await rememberHere(archive, store, gateway.gauges().gatewayId, clock.now()).catch((error) =>
          logger.warn({ err: error }, 'users who are present could not be written'),
        )
      }
      await gateway?.drain()
      await tracker.flush()
      await gateway?.stop()
      await sweeper?.stop()
      await fanout?.stop()
      await historySweep?.stop()
      presence.eraser.stop()
      await presence.notifier.stop()
      await tracker.flush()
      await owner?.stop()
      await streaming?.close()
      await archivist.flush()
      const lost = await archivist.finish(config.drainMs)
      if (lost.length > 0)
        logger.error(
          { users: lost.length, first: lost.slice(0, LOST_NAMED_MAX) },
          'the archive could not be written before the stop; the last seen of these users is lost',
        )
      await presence.duties.flush()
      feed.stop()
      await app.stop()
      await grpc?.stop()
      access.stop()
      aliveTimer.stop()
      housekeeping.stop()
      loopWatch.stop()
      clock.stop()
      // A database that is away keeps the row of two seconds before.
      await archive.markAlive(clock.now()).catch(() => {})
      await hot.close()
      await archive.close()
      logger.info('stopped')
      return lost.length
    },
  }
}
