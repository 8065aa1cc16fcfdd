// A whole server in this process, under a fake clock and without a listening port: the parts of
// compose.ts, put together as it does, with memory, SQLite in memory, the real gateway and the real
// routes behind the real guard. Nothing here takes time but `clock.advance`, so that what happened at
// which instant is exact and every run of a history is the same.
import { createSqliteArchive } from '../../packages/server/src/archive/sqlite.ts'
import { createMemoryBus } from '../../packages/server/src/bus/memory.ts'
import { type Gateway, startGateway } from '../../packages/server/src/gateway/gateway.ts'
import { createAuthenticator } from '../../packages/server/src/http/auth.ts'
import { createGuard } from '../../packages/server/src/http/guard.ts'
import { createPollLimit } from '../../packages/server/src/http/poll-limit.ts'
import type { Routes } from '../../packages/server/src/http/route.ts'
import { contactRoutes } from '../../packages/server/src/http/routes/contacts.ts'
import { explainRoutes } from '../../packages/server/src/http/routes/explain.ts'
import { feedRoutes } from '../../packages/server/src/http/routes/feed.ts'
import { opsRoutes } from '../../packages/server/src/http/routes/ops.ts'
import { personRoutes } from '../../packages/server/src/http/routes/person.ts'
import { presenceRoutes } from '../../packages/server/src/http/routes/presence.ts'
import { publicRoutes } from '../../packages/server/src/http/routes/public.ts'
import { selfRoutes } from '../../packages/server/src/http/routes/self.ts'
import { STREAM_EVERY_MS, streamRoutes } from '../../packages/server/src/http/routes/stream.ts'
import { createFeed } from '../../packages/server/src/ops/feed.ts'
import { createStats } from '../../packages/server/src/ops/stats.ts'
import type { Config } from '../../packages/server/src/platform/config/config.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { createTally } from '../../packages/server/src/platform/tally.ts'
import { toPresence } from '../../packages/server/src/presence/core/view.ts'
import { createActions } from '../../packages/server/src/presence/people/actions.ts'
import { createContactNews } from '../../packages/server/src/presence/people/contact-change-notifier.ts'
import { createContacts } from '../../packages/server/src/presence/people/contacts.ts'
import { createEraser } from '../../packages/server/src/presence/people/eraser.ts'
import { createPersonExport } from '../../packages/server/src/presence/people/person-export.ts'
import { createAnnouncer } from '../../packages/server/src/presence/pipeline/announcer.ts'
import { createArchivist } from '../../packages/server/src/presence/pipeline/archivist.ts'
import { rememberHere, restore } from '../../packages/server/src/presence/pipeline/restore.ts'
import { startSweeper } from '../../packages/server/src/presence/pipeline/sweeper.ts'
import { createTracker } from '../../packages/server/src/presence/pipeline/tracker.ts'
import { createRelations } from '../../packages/server/src/presence/privacy/relations.ts'
import { createReader } from '../../packages/server/src/presence/reading/reader.ts'
import { createRecall } from '../../packages/server/src/presence/reading/recall.ts'
import { createSeenBy } from '../../packages/server/src/presence/reading/seen-by.ts'
import { startExpiries } from '../../packages/server/src/store/expiries.ts'
import { createMemoryStore } from '../../packages/server/src/store/memory.ts'
import { createFakeClock, type FakeClock } from '../fake-clock.ts'
import { createSwitchboard, type Switchboard } from './switchboard.ts'

const ALIVE_EVERY_MS = 2_000
const TURNS_MAX = 10
/** No server stops and starts within the millisecond in which somebody chose something. */
const RESTART_MS = 10
/** In the middle of a day, and at a turn of the outbox. */
const DAWN_AT = Date.UTC(2026, 2, 1, 12)

export interface World {
  clock: FakeClock
  gateway(): Gateway
  http(): Switchboard
  /** Stops the server in good order and starts another one on what it left. */
  restart(): Promise<void>
  stop(): Promise<void>
  /** Everything that was logged as a warning or worse. */
  complaints: readonly string[]
  /** Lets everything go on until the promise is there, without time wherever that is enough. */
  until<T>(promise: Promise<T>): Promise<T>
}

interface Server {
  gateway: Gateway
  http: Switchboard
  stop(): Promise<void>
}

export interface WorldOptions {
  config: Config
  /** How long after dawn it begins. */
  beginsMs: number
  /** How long the database takes to answer who somebody is and who knows whom. */
  archiveMs: number
}

type Archive = Awaited<ReturnType<typeof createSqliteArchive>>
type Logger = ReturnType<typeof createLogger>

export async function createWorld({ config, beginsMs, archiveMs }: WorldOptions): Promise<World> {
  const clock = createFakeClock(DAWN_AT + beginsMs)
  const complaints: string[] = []
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void complaints.push(line) } })

  async function until<T>(promise: Promise<T>): Promise<T> {
    let isThere = false
    const seen = promise.finally(() => {
      isThere = true
    })
    // Whoever awaits `seen` hears of a failure; the loop only has to end.
    seen.catch(() => {})
    // What is not there after these waits for time to pass: for a slow answer, or for people to go.
    for (let turn = 0; !isThere; turn++) await clock.advance(turn < TURNS_MAX ? 0 : 1)
    return seen
  }

  const archive = await createSqliteArchive({ path: ':memory:', clock })
  await until(archive.migrate())
  const slow = archiveMs === 0 ? archive : slowed(archive, clock, archiveMs)
  const start = () => until(startServer(config, { archive: slow, atStart: archive }, clock, logger))
  let server = await start()

  return {
    clock,
    complaints,
    until,
    gateway: () => server.gateway,
    http: () => server.http,
    async restart() {
      await until(server.stop())
      await clock.advance(RESTART_MS)
      server = await start()
    },
    async stop() {
      await until(server.stop())
      await until(archive.close())
    },
  }
}

/** What is asked while somebody waits takes its time, as it does over a network. */
function slowed(archive: Archive, clock: FakeClock, archiveMs: number): Archive {
  const later = async <T>(answer: Promise<T>): Promise<T> => {
    await clock.sleep(archiveMs)
    return answer
  }
  return {
    ...archive,
    read: (userIds) => later(archive.read(userIds)),
    areContacts: (pairs) => later(archive.areContacts(pairs)),
  }
}

async function startServer(
  config: Config,
  { archive, atStart }: { archive: Archive; atStart: Archive },
  clock: FakeClock,
  logger: Logger,
): Promise<Server> {
  const { policy, rules } = config
  const expiries = startExpiries({ store: createMemoryStore(), clock, tracker: () => tracker })
  const { store } = expiries
  const bus = createMemoryBus({ onError: (error) => logger.error({ err: error }, 'a bus subscriber failed') })
  // How long a start takes is nobody's secret; it depends on all who were here.
  await restore({ archive: atStart, store, policy, leaseMs: config.gatewayLeaseMs, now: clock.now() })

  const tally = createTally()
  const archivist = createArchivist(archive, clock, logger)
  const recall = createRecall(archive, clock, logger)
  const feed = createFeed(clock)
  const announcer = createAnnouncer({
    bus,
    archivist,
    policy,
    rules,
    onChange(userId, record) {
      reader.forget(userId)
      feed.show(() => toPresence(userId, record), clock.now())
    },
  })
  const tracker = createTracker({ store, recall, announcer, policy, clock, logger })
  const reader = createReader({
    store,
    loadForQuery: store.load,
    recall,
    policy,
    rules,
    clock,
    logger,
    cacheMs: 0,
    tick: (userId) => tracker.report(userId, { type: 'tick' }),
    isPending: (userId) => tracker.isPending(userId),
  })
  const relations = createRelations({ archive, rules, clock, logger })
  const seenBy = createSeenBy({ reader, relations, rules, clock })
  const news = createContactNews({ archive, tracker, clock, logger })
  const contacts = createContacts({ archive, store, news, clock })
  const exportPerson = createPersonExport({ archive, reader, policy, rules, clock })
  const eraser = createEraser({ store, archive, archivist, tracker, news, reader, bus, clock, logger })
  const actions = createActions(tracker, clock)
  const sweeper = startSweeper({ store, tracker, clock, logger, cluster: null })
  await archive.markAlive(clock.now())
  const aliveTimer = clock.every(ALIVE_EVERY_MS, () => void archive.markAlive(clock.now()))
  const parts = { config, store, bus, archive, tracker, reader, relations, actions, tally, clock, logger }
  // The first phase for all: what is left to chance says nothing, and differs from run to run.
  const gateway = await startGateway({ ...parts, chance: () => 0 })

  const stats = createStats({
    tally,
    store,
    clock,
    roles: config.roles,
    gateway: gateway.gauges,
    process: () => ({ trackerDepth: tracker.depth(), sweepLagMs: 0, archiveBacklog: 0, clockOffsetMs: 0 }),
  })
  // There is no network here that could lose patience with a silent stream.
  const keepOpen = () => {}
  const openings = createPollLimit({ burst: 2 * config.sessionsPerUser, everyMs: STREAM_EVERY_MS })
  const routes: Routes = {
    ...presenceRoutes({ seenBy }),
    ...publicRoutes({ seenBy }),
    ...selfRoutes({ actions, reader, policy, rules, clock }),
    ...contactRoutes({ contacts }),
    ...personRoutes({ exportPerson, eraser }),
    ...explainRoutes({ seenBy, policy, rules, clock }),
    ...gateway.routes,
    ...streamRoutes({ streams: gateway.streams, openings, clock, keepOpen }),
    ...feedRoutes({ feed, keepOpen }),
    ...opsRoutes({
      stats,
      store,
      archive,
      isHealthy: gateway.isHealthy,
      isDraining: () => false,
      // As everywhere but in dev mode, whose tokens are used here because they need no signature.
      areMetricsOpen: config.metricsOpen,
      version: 'test',
    }),
  }
  const authenticator = createAuthenticator(config, clock)
  const pollLimit = createPollLimit({ burst: config.pollBurst, everyMs: config.pollEveryMs })
  const guard = createGuard({ authenticator, pollLimit, clock, logger, dev: config.dev })

  return {
    gateway,
    http: createSwitchboard(routes, guard),
    async stop() {
      await rememberHere(archive, store, gateway.gauges().gatewayId, clock.now())
      await gateway.drain()
      await tracker.flush()
      await gateway.stop()
      expiries.stop()
      await sweeper.stop()
      await archivist.flush()
      eraser.stop()
      feed.stop()
      stats.stop()
      aliveTimer.stop()
      await archive.markAlive(clock.now())
      await bus.close()
      await store.close()
    },
  }
}
