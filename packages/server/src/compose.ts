// The only file that chooses adapters. From a configuration it builds the pipeline and starts it:
// store and bus, archive, tracker, sweeper, gateway, in the order the data flows.
import { parseDatabaseUrl } from './archive/database-url.ts'
import type { Archive } from './archive/port.ts'
import { createPostgresArchive } from './archive/postgres.ts'
import { createSqliteArchive } from './archive/sqlite.ts'
import { createMemoryBus } from './bus/memory.ts'
import type { Bus } from './bus/port.ts'
import { createRedisBus } from './bus/redis.ts'
import { type Gateway, startGateway } from './gateway/gateway.ts'
import { startHttpApp } from './http/http-app.ts'
import { createFeed } from './ops/feed.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config/config.ts'
import { startHousekeeping } from './platform/housekeeping.ts'
import { randomBelow, randomName } from './platform/ids.ts'
import type { Logger } from './platform/logger.ts'
import { startLoopWatch } from './platform/loop-watch.ts'
import { createStoreClock } from './platform/store-clock.ts'
import { createTally } from './platform/tally.ts'
import { toPresence } from './presence/core/view.ts'
import { createActions } from './presence/people/actions.ts'
import { createContactNews } from './presence/people/contact-change-notifier.ts'
import { createContacts } from './presence/people/contacts.ts'
import { createEraser } from './presence/people/eraser.ts'
import { createPersonExport } from './presence/people/person-export.ts'
import { createAnnouncer } from './presence/pipeline/announcer.ts'
import { createArchivist } from './presence/pipeline/archivist.ts'
import { rememberHere, restore } from './presence/pipeline/restore.ts'
import { SWEEPER_PREFIX, startSweeper } from './presence/pipeline/sweeper.ts'
import { createTracker } from './presence/pipeline/tracker.ts'
import { createRelations } from './presence/privacy/relations.ts'
import { createReader } from './presence/reading/reader.ts'
import { createRecall } from './presence/reading/recall.ts'
import { createSeenBy } from './presence/reading/seen-by.ts'
import { connectRedis } from './redis/client.ts'
import { parseRedisUrl } from './redis/url.ts'
import { startExpiries } from './store/expiries.ts'
import { createMemoryStore } from './store/memory.ts'
import type { PresenceStore } from './store/port.ts'
import { createRedisStore } from './store/redis.ts'

/** Often enough that a crash is dated to within five seconds. */
const ALIVE_EVERY_MS = 2_000
const REDIS_READY_MS = 10_000

export interface Running {
  url: string
  stop(reason: string): Promise<void>
}

export async function openArchive(config: Config): Promise<Archive> {
  const database = parseDatabaseUrl(config.databaseUrl)
  switch (database.kind) {
    case 'sqlite':
      return createSqliteArchive({ path: database.path })
    case 'postgres':
      return createPostgresArchive({ url: database.url, poolMax: config.databasePool })
    case 'invalid':
      throw new Error(database.message)
  }
}

interface HotState {
  store: PresenceStore
  bus: Bus
  loadForQuery: PresenceStore['load']
  close(): Promise<void>
}

function openMemory(logger: Logger): HotState {
  const store = createMemoryStore()
  const bus = createMemoryBus({ onError: (error) => logger.error({ err: error }, 'a bus subscriber failed') })
  return {
    store,
    bus,
    loadForQuery: store.load,
    async close() {
      await store.close()
      await bus.close()
    },
  }
}

/** `onBack` is called when Redis was away and something may have been lost. */
async function openRedis(
  redisUrl: string,
  config: Config,
  options: { logger: Logger; clock: Clock; onBack: () => void },
): Promise<HotState> {
  const { logger, clock, onBack } = options
  const url = parseRedisUrl(redisUrl)
  if (url.kind === 'invalid') throw new Error(url.message)
  const connection = connectRedis(url, { logger, clock, onBack })
  // What replicas say may be old, so nobody who writes or watches goes by it.
  const replicas = config.readReplicas ? connectRedis(url, { logger, clock, readFromReplicas: true }) : null
  try {
    await connection.ready(REDIS_READY_MS)
    await replicas?.ready(REDIS_READY_MS)
  } catch (error) {
    await Promise.all([connection.close(), replicas?.close()])
    throw error
  }
  const store = createRedisStore({ client: connection, clock })
  const onError = (error: unknown) => logger.error({ err: error }, 'a bus subscriber failed')
  const bus = createRedisBus({ connection, clock, onError })
  return {
    store,
    bus,
    loadForQuery: replicas === null ? store.load : createRedisStore({ client: replicas, clock }).load,
    async close() {
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

/** Who runs on the shared store right now, by their leases; null where there is no shared store. */
export async function lookAround(
  config: Config,
  options: { logger: Logger; clock: Clock },
): Promise<Deployment | null> {
  if (config.redisUrl === null) return null
  const hot = await openRedis(config.redisUrl, config, { ...options, onBack: () => {} })
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
  const { policy, roles } = config
  const isShared = config.redisUrl !== null
  let gateway: Gateway | null = null

  const archive = await openArchive(config)
  const onBack = () => gateway?.doubt('the store was away')
  const hot =
    config.redisUrl === null
      ? openMemory(logger)
      : await openRedis(config.redisUrl, config, { logger, clock: options.clock, onBack })
  const { bus } = hot
  const clock = await createStoreClock(options.clock, () => hot.store.time(), logger)
  const expiries = startExpiries({ store: hot.store, clock, tracker: () => tracker })
  const { store } = expiries
  await archive.migrate()
  // Among others the store knows who is here, and leases tell when that ends.
  if (!isShared) {
    const users = await restore({ archive, store, policy, leaseMs: config.gatewayLeaseMs, now: clock.now() })
    if (users > 0) logger.info({ users }, 'people who were here before are given time to come back')
  }

  const tally = createTally()
  const feed = createFeed(clock)
  const archivist = createArchivist(archive, clock, logger)
  const recall = createRecall(archive, clock, logger)
  const announcer = createAnnouncer({
    bus,
    archivist,
    policy,
    rules: config.rules,
    onChange(userId, record) {
      tally.changes++
      reader.forget(userId)
      feed.show(() => toPresence(userId, record), clock.now())
    },
  })
  const onTrouble = () => gateway?.doubt('events could not be committed')
  const tracker = createTracker({ store, recall, announcer, policy, clock, logger, onTrouble })
  const reader = createReader({
    store,
    loadForQuery: hot.loadForQuery,
    recall,
    policy,
    rules: config.rules,
    clock,
    logger,
    cacheMs: isShared ? config.readCacheMs : 0,
    tick: (userId) => tracker.report(userId, { type: 'tick' }),
    isPending: (userId) => tracker.isPending(userId),
  })
  const relations = createRelations({ archive, rules: config.rules, clock, logger })
  const { rules } = config
  const seenBy = createSeenBy({ reader, relations, rules, clock })
  const news = createContactNews({ archive, tracker, clock, logger })
  const contacts = createContacts({ archive, store, news, clock })
  const exportPerson = createPersonExport({ archive, reader, policy, rules, clock })
  const eraser = createEraser({ store, archive, archivist, tracker, news, reader, bus, clock, logger })
  const actions = createActions(tracker, clock)
  const cluster = isShared ? { name: randomName(SWEEPER_PREFIX), leaseMs: config.gatewayLeaseMs } : null
  const sweeper = roles.includes('presence') ? startSweeper({ store, tracker, clock, logger, cluster }) : null
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

  if (roles.includes('gateway')) {
    const parts = { config, store, bus, archive, tracker, reader, relations, actions, tally, clock, logger }
    gateway = await startGateway({ ...parts, chance: randomBelow })
  }
  const front = startHttpApp({
    config,
    store,
    archive,
    reader,
    seenBy,
    contacts,
    exportPerson,
    eraser,
    feed,
    actions,
    gateway,
    tally,
    clock,
    logger,
    processGauges: () => ({
      trackerDepth: tracker.depth(),
      sweepLagMs: sweeper?.lagMs() ?? 0,
      archiveBacklog: archivist.backlog(),
      clockOffsetMs: clock.offsetMs(),
    }),
  })
  logger.info({ url: front.url, roles, dev: config.dev, policy: config.policyName }, 'started')

  return {
    url: front.url,
    async stop(reason) {
      logger.info({ reason }, 'stopping')
      front.drain()
      if (gateway !== null && !isShared) {
        await rememberHere(archive, store, gateway.gauges().gatewayId, clock.now()).catch((error) =>
          logger.warn({ err: error }, 'who is here could not be written'),
        )
      }
      await gateway?.drain()
      await tracker.flush()
      await gateway?.stop()
      expiries.stop()
      await sweeper?.stop()
      eraser.stop()
      await news.stop()
      await tracker.flush()
      await archivist.flush()
      feed.stop()
      await front.stop()
      aliveTimer.stop()
      housekeeping.stop()
      loopWatch.stop()
      clock.stop()
      await archive.markAlive(clock.now()).catch(() => 'a database that is away has the row of before')
      await hot.close()
      await archive.close()
      logger.info('stopped')
    },
  }
}
