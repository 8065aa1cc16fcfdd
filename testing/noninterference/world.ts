// A whole server in this process, under a fake clock and without a listening port: the parts of
// compose.ts, put together as it does, with memory, SQLite in memory, the real gateway and the real
// routes behind the real guard. Nothing here takes time but `clock.advance`, so every run of a history is the
// same. A world can say whether anything is still under way in it.
import type { Archive } from '../../packages/server/src/archive/port.ts'
import { createMemoryBus } from '../../packages/server/src/bus/memory.ts'
import type { Bus } from '../../packages/server/src/bus/port.ts'
import { startForeignRouting } from '../../packages/server/src/foreign/routing.ts'
import { createDoubts } from '../../packages/server/src/gateway/doubts.ts'
import { type Gateway, startGateway } from '../../packages/server/src/gateway/gateway.ts'
import { type CallGuard, createCallGuard } from '../../packages/server/src/grpc/call-guard.ts'
import { createCalls } from '../../packages/server/src/grpc/calls.ts'
import { createAuthenticator } from '../../packages/server/src/http/access/auth.ts'
import { createOriginRules } from '../../packages/server/src/http/access/origins.ts'
import { createThrottle } from '../../packages/server/src/http/access/throttle.ts'
import { createGuard } from '../../packages/server/src/http/guard.ts'
import type { Routes } from '../../packages/server/src/http/route.ts'
import { contactRoutes } from '../../packages/server/src/http/routes/contacts.ts'
import { disconnectRoutes } from '../../packages/server/src/http/routes/disconnect.ts'
import { explainRoutes } from '../../packages/server/src/http/routes/explain.ts'
import { feedRoutes } from '../../packages/server/src/http/routes/feed.ts'
import { foreignRoutes } from '../../packages/server/src/http/routes/foreign.ts'
import { historyRoutes } from '../../packages/server/src/http/routes/history.ts'
import { opsRoutes } from '../../packages/server/src/http/routes/ops.ts'
import { personRoutes } from '../../packages/server/src/http/routes/person.ts'
import { presenceRoutes } from '../../packages/server/src/http/routes/presence.ts'
import { publicRoutes } from '../../packages/server/src/http/routes/public.ts'
import { selfRoutes } from '../../packages/server/src/http/routes/self.ts'
import { sessionRoutes } from '../../packages/server/src/http/routes/sessions.ts'
import { streamRoutes } from '../../packages/server/src/http/routes/stream.ts'
import { webhookRoutes } from '../../packages/server/src/http/routes/webhooks.ts'
import { createMemoryRateLimiter } from '../../packages/server/src/limits/memory.ts'
import { expositionOf } from '../../packages/server/src/ops/exposition.ts'
import { createFeed } from '../../packages/server/src/ops/feed.ts'
import { createMetrics } from '../../packages/server/src/ops/metrics.ts'
import { createStats, type Stats } from '../../packages/server/src/ops/stats.ts'
import type { Config } from '../../packages/server/src/platform/config/config.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { createTally } from '../../packages/server/src/platform/measuring/tally.ts'
import { toPresence } from '../../packages/server/src/presence/core/view.ts'
import { startDisconnects } from '../../packages/server/src/presence/people/disconnects.ts'
import { rememberHere, restore } from '../../packages/server/src/presence/pipeline/restore.ts'
import { startSweeper } from '../../packages/server/src/presence/pipeline/sweeper.ts'
import { createPresence } from '../../packages/server/src/presence/presence.ts'
import { createMemoryStore } from '../../packages/server/src/store/memory.ts'
import { openWebhooks } from '../../packages/server/src/webhooks/webhooks.ts'
import { createFakeClock, type FakeClock, untilDone } from '../worlds/fake-clock.ts'
import { borrowArchive, slowed } from './archives.ts'
import type { Driven } from './lockstep.ts'
import { createSwitchboard, type Switchboard } from './switchboard.ts'
import { SOUND, type Weakening } from './weakenings/weakening.ts'

const ALIVE_EVERY_MS = 2_000
/** No server stops and starts within the millisecond in which a user chose something. */
const RESTART_MS = 10
/** In the middle of a day. */
const DAWN_AT = Date.UTC(2026, 2, 1, 12)

export interface World extends Driven {
  gateway(): Gateway
  http(): Switchboard
  grpc(): CallGuard
  /** Stops the server in good order and starts another one on what it left. The clock must be moved for that. */
  restart(): Promise<void>
  /** The clock must be moved for that. */
  stop(): Promise<void>
  /** Everything that was logged as a warning or worse. */
  complaints: readonly string[]
}

interface Server {
  gateway: Gateway
  http: Switchboard
  grpc: CallGuard
  isBusy(): Promise<boolean>
  stop(): Promise<void>
}

export interface WorldOptions {
  config: Config
  /** How long the archive takes to answer a question about users or contacts. */
  archiveMs: number
  weakening?: Weakening
}

type Logger = ReturnType<typeof createLogger>

/** What the server is started with, the first time and every time again. */
interface Ground {
  config: Config
  archive: Archive
  /** Without delay. */
  archiveAtStart: Archive
  clock: FakeClock
  logger: Logger
  weakening: Weakening
  onBusMessage(): void
}

export async function createWorld({ config, archiveMs, weakening = SOUND }: WorldOptions): Promise<World> {
  const clock = createFakeClock(DAWN_AT)
  const complaints: string[] = []
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void complaints.push(line) } })
  const { archive, giveBack } = await borrowArchive(clock)
  const questions = { asked: 0, answered: 0 }
  let busMessages = 0
  const ground: Ground = {
    config,
    archive: slowed(archive, clock, archiveMs, questions),
    archiveAtStart: archive,
    clock,
    logger,
    weakening,
    onBusMessage: () => void busMessages++,
  }
  const start = () => startServer(ground)
  let server = await untilDone(clock, start())
  let isRestarting = false

  return {
    clock,
    complaints,
    gateway: () => server.gateway,
    http: () => server.http,
    grpc: () => server.grpc,
    isBusy: async () => isRestarting || questions.answered < questions.asked || (await server.isBusy()),
    // An answer counts too: what follows from it waits for the next flush.
    activity: () => questions.asked + questions.answered + busMessages,
    async restart() {
      isRestarting = true
      await server.stop()
      await clock.sleep(RESTART_MS)
      server = await start()
      isRestarting = false
    },
    async stop() {
      await server.stop()
      await giveBack()
    },
  }
}

async function startServer(ground: Ground): Promise<Server> {
  const { config, archiveAtStart, clock, logger, onBusMessage } = ground
  const replace = ground.weakening.weaken()
  const archive = replaced(ground.archive, replace.archive)
  const { policy, rules } = config
  const store = createMemoryStore()
  const memoryBus = createMemoryBus({
    onError: (error) => logger.error({ err: error }, 'a bus subscriber failed'),
  })
  const counted: Bus = {
    ...memoryBus,
    publish(gatewayId, messages) {
      onBusMessage()
      return memoryBus.publish(gatewayId, messages)
    },
  }
  const bus = replaced(counted, replace.bus)
  await restore({ archive: archiveAtStart, store, policy, leaseMs: config.gatewayLeaseMs, now: clock.now() })

  const tally = createTally()
  const feed = createFeed(clock)
  const presence = createPresence({
    archive,
    store,
    bus,
    isStoreVolatile: true,
    cacheMs: 0,
    policy,
    rules,
    historyDays: config.historyDays,
    clock,
    logger,
    onChange: (userId, record) => feed.show(() => toPresence(userId, record), clock.now()),
    replace,
  })
  const { tracker, archivist, dutySweep, viewerReader, actions, reader, eraser } = presence
  const sweeper = startSweeper({ store, tracker, dutySweep, clock, logger, cluster: null })
  await archive.markAlive(clock.now())
  const aliveTimer = clock.every(ALIVE_EVERY_MS, () => void archive.markAlive(clock.now()))
  const disconnects = await startDisconnects({
    ...presence,
    archive,
    bus,
    clock,
    tokenClock: clock,
    logger,
    isAlone: true,
  })
  const foreign = await startForeignRouting({ store, bus, clock, logger, tally, cluster: null })
  const shared = { ...presence, config, store, bus, archive, disconnects, foreign }
  const parts = { ...shared, doubts: createDoubts(), tally, clock, logger }
  const gateway = await startGateway(parts)
  const { webhooks, stop: stopWebhooks } = await openWebhooks({
    archive: archiveAtStart,
    allowsPrivate: false,
    isShared: false,
    clock,
    trueClock: clock,
    logger,
  })
  // Users cannot call these routes, so nothing has to be looked at.
  stopWebhooks()

  const stats = lazily(() =>
    createStats({
      tally,
      store,
      clock,
      roles: config.roles,
      gateway: gateway.gauges,
      logLag: () => ({}),
      archiveBacklog: () => 0,
    }),
  )
  const collectMetrics = createMetrics({
    tally,
    store,
    clock,
    roles: config.roles,
    version: 'test',
    gateway: gateway.gauges,
    isHealthy: gateway.isHealthy,
    logLag: () => ({}),
    process: () => ({
      trackerDepth: tracker.depth(),
      sweepLagMs: 0,
      archiveBacklog: 0,
      isArchiveFailing: false,
      clockOffsetMs: 0,
      logLinesSuppressed: 0,
      deadLetters: 0,
      dutiesSince: { announce: null, archive: null },
    }),
  })
  // There is no network here that could lose patience with a silent stream.
  const keepOpen = () => {}
  const rateLimiter = replaced(createMemoryRateLimiter(), replace.rateLimiter)
  const throttle = createThrottle({ rateLimiter, config, clock, tally })
  const routes: Routes = {
    ...presenceRoutes({ viewerReader }),
    ...publicRoutes({ viewerReader }),
    ...selfRoutes({ actions, reader, policy, rules, clock }),
    ...contactRoutes(presence),
    ...personRoutes(presence),
    ...disconnectRoutes({ disconnects }),
    ...foreignRoutes({ foreign, tally }),
    ...historyRoutes({ history: presence.history, clock }),
    ...webhookRoutes({ webhooks, allowsPrivate: false }),
    ...explainRoutes({ viewerReader, policy, rules, clock }),
    ...sessionRoutes({ httpSessions: gateway.httpSessions, throttle, policy, clock }),
    ...streamRoutes({ streams: gateway.streams, throttle, keepOpen }),
    ...feedRoutes({ feed, keepOpen }),
    ...opsRoutes({
      stats,
      metrics: async () => expositionOf(await collectMetrics()),
      store,
      archive,
      isStoreVolatile: true,
      isArchiveFailing: archivist.isFailing,
      isHealthy: gateway.isHealthy,
      isDraining: () => false,
      logLag: () => ({}),
      // As everywhere but in dev mode, whose tokens are used here because they need no signature.
      areMetricsOpen: config.metricsOpen,
      version: 'test',
    }),
  }
  const authenticator = createAuthenticator(config, clock)
  const access = { authenticator, throttle, stop() {} }
  const { framesPerSecond, sessionsPerUser } = config
  const calls = createCalls({
    ...presence,
    disconnects,
    foreign,
    access,
    gateway,
    tally,
    policy,
    framesPerSecond,
    sessionsPerUser,
    clock,
    tokenClock: clock,
  })
  const guard = createGuard({
    authenticator,
    throttle,
    logger,
    origins: createOriginRules(config),
    clock,
    tally,
  })

  return {
    gateway,
    http: createSwitchboard(routes, guard),
    grpc: createCallGuard({ calls, access, logger }),
    // A deadline that has passed is found by the sweeper, or earlier by an event of that user. Content and order are the
    // same in both worlds, and the instant is not promised, so the worlds are compared after the sweep.
    async isBusy() {
      const { wavesWalking, wavesWaiting } = gateway.gauges()
      const overdue = await store.due(0, clock.now(), 1)
      return tracker.depth() + wavesWalking + wavesWaiting + overdue.length > 0
    },
    async stop() {
      await rememberHere(archive, store, gateway.gauges().gatewayId, clock.now())
      await gateway.drain()
      await tracker.flush()
      await gateway.stop()
      await sweeper.stop()
      await archivist.flush()
      eraser.stop()
      feed.stop()
      stats.stop()
      aliveTimer.stop()
      disconnects.stop()
      await archive.markAlive(clock.now())
      await bus.close()
      await store.close()
    },
  }
}

const replaced = <Part>(part: Part, replace: ((part: Part) => Part) | undefined): Part =>
  replace?.(part) ?? part

/** Made when they are first asked for, which no user may: to make them takes as long as many a history. */
function lazily(create: () => Stats): Stats {
  let made: Stats | null = null
  const stats = () => {
    made ??= create()
    return made
  }
  return {
    read: () => stats().read(),
    history: () => stats().history(),
    stop: () => made?.stop(),
  }
}
