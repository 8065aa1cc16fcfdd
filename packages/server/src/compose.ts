// From a configuration it builds the pipeline and starts it, on the adapters that adapters.ts chooses. Each part is given
// parts that exist already, and no part reaches for a later one.
import { openArchive, openMemory, openRedis, settleMsOf, topicsOf } from './adapters.ts'
import { groupOf, startFanout } from './fanout/fanout.ts'
import { createHandledFirst } from './fanout/handled-first.ts'
import { createHistoryConsumer } from './fanout/history.ts'
import { startHistorySweep } from './fanout/history-sweep.ts'
import { createKafkaRelay } from './fanout/kafka-relay.ts'
import { startForeignRouting } from './foreign/routing.ts'
import { createDoubts } from './gateway/doubts.ts'
import { startGateway } from './gateway/gateway.ts'
import { createAccess } from './http/access.ts'
import { type Siblings, startHttpApp } from './http/http-app.ts'
import { createFeed } from './ops/feed.ts'
import { openTraces } from './ops/traces.ts'
import type { Clock } from './platform/clock.ts'
import { type Config, warningsAbout } from './platform/config/config.ts'
import { startHousekeeping } from './platform/housekeeping.ts'
import { randomName } from './platform/ids.ts'
import type { Logger, RootLogger } from './platform/logger.ts'
import { startLoopWatch } from './platform/loop-watch.ts'
import { createSteadyClock } from './platform/steady-clock.ts'
import { createStoreClock } from './platform/store-clock.ts'
import { createTally } from './platform/tally.ts'
import { toPresence } from './presence/core/view.ts'
import { startDisconnects } from './presence/people/disconnects.ts'
import { rememberHere, restore } from './presence/pipeline/restore.ts'
import { HOLDER_PREFIX, isGatewayName, SWEEPER_PREFIX } from './presence/pipeline/shard-owner.ts'
import { startSweeper } from './presence/pipeline/sweeper.ts'
import { createPresence } from './presence/presence.ts'
import { openStreaming } from './streaming/streaming.ts'
import { openWebhooks } from './webhooks/webhooks.ts'

/** Often enough that a crash is dated to within five seconds. */
const ALIVE_EVERY_MS = 2_000
/** Users named in a log line. */
const LOST_NAMED_MAX = 10

export interface Running {
  url: string
  /** Null where gRPC is off. */
  grpc: { address: string; isPicked: boolean } | null
  /** Resolves with the number of users whose last change could not be made durable. */
  stop(reason: string): Promise<number>
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
    return { gateways: names.filter(isGatewayName).length, sweepers, clockOffsetMs: clock.offsetMs() }
  } finally {
    await hot.close()
  }
}

export interface StartOptions {
  logger: RootLogger
  clock: Clock
  /** Other processes with which this one shares its port. */
  siblings?: Siblings | null
}

export async function start(config: Config, options: StartOptions): Promise<Running> {
  const { logger } = options
  const { policy, rules, roles, historyDays } = config
  const isShared = config.redisUrl !== null
  const doubts = createDoubts()

  const archive = await openArchive(config, isShared ? 'together' : 'alone')
  const hot =
    config.redisUrl === null
      ? openMemory({ logger, clock: options.clock })
      : await openRedis(config.redisUrl, config, { logger, clock: options.clock, doubts })
  const { bus } = hot
  const local = isShared ? options.clock : createSteadyClock(options.clock, logger)
  const clock = await createStoreClock(local, () => hot.store.time(), logger)
  await archive.migrate()
  await hot.store.lookAtShards(clock.now())
  // With a shared store, the store knows who is present, and leases tell when that ends.
  if (!isShared) {
    const users = await restore({
      archive,
      store: hot.store,
      policy,
      leaseMs: config.gatewayLeaseMs,
      now: clock.now(),
    })
    if (users > 0) logger.info({ users }, 'users who were present before the restart get time to come back')
  }

  // Tokens and signatures are read on other machines, so they go by the true time.
  const trueClock = isShared ? clock : options.clock
  const { webhooks, ...webhookWork } = await openWebhooks({
    archive,
    allowsPrivate: config.webhookPrivateAddresses,
    isShared,
    clock,
    trueClock,
    logger,
  })
  const tally = createTally()
  const traces = openTraces(config, { clock, logger, tally })
  const tracer = traces?.tracer ?? null
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
          settleMs: settleMsOf(config),
          onTrouble,
        })
      : null
  const { whenHandled } = hot
  const store = streaming === null ? hot.store : streaming.settling(hot.store)
  const presence = createPresence({
    archive,
    store,
    bus,
    isLogged: () => historyDays > 0 || streaming !== null || webhookWork.areWanted(),
    ...(whenHandled && {
      beforeAnnouncing: createHandledFirst({ whenHandled: () => whenHandled(groupOf('webhooks')), clock }),
    }),
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
    onBatch: (tookMs) => tally.batches.observe(tookMs),
    tracer,
  })
  const { tracker, archivist, dutySweep } = presence
  const disconnects = await startDisconnects({
    archive,
    bus,
    tracker,
    clock,
    tokenClock: trueClock,
    logger,
    isAlone: !isShared,
  })
  const foreign = await startForeignRouting({
    store,
    bus,
    clock,
    logger,
    cluster: isShared ? { name: randomName(HOLDER_PREFIX), leaseMs: config.gatewayLeaseMs } : null,
  })
  const owner =
    streaming !== null && roles.includes('presence')
      ? await streaming.startOwner(presence.createOwnTracker, foreign)
      : null
  const fanout = roles.includes('fanout')
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
  const webhookFanout =
    fanout &&
    (await webhookWork.startFanout({
      consume: (consumer) => fanout.consume('webhooks', consumer),
      viewerReader: presence.viewerReader,
      rules,
      leaseMs: config.gatewayLeaseMs,
      tally,
    }))
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
    tally.loopDelays.observe(lateMs)
    tally.loopBlockMsMax = Math.max(tally.loopBlockMsMax, lateMs)
  })
  const housekeeping = startHousekeeping(clock, () => tally.connectionsOpened + tally.connectionsClosed)

  const parts = { ...presence, config, store, bus, archive, tally, clock, logger, disconnects, foreign }
  const gateway = roles.includes('gateway') ? await startGateway({ ...parts, doubts, tracer }) : null
  const access = createAccess({ ...parts, rateLimiter: hot.rateLimiter, tokenClock: trueClock })
  const app = startHttpApp({
    ...parts,
    access,
    feed,
    webhooks,
    gateway,
    siblings: options.siblings ?? null,
    logLag: () => fanout?.lags() ?? {},
    processGauges: () => ({
      trackerDepth: tracker.depth(),
      sweepLagMs: sweeper?.lagMs() ?? 0,
      archiveBacklog: archivist.backlog(),
      isArchiveFailing: archivist.isFailing(),
      logLinesSuppressed: logger.suppressedLines(),
      dutiesSince: { announce: dutySweep.oldestSince('announce'), archive: dutySweep.oldestSince('archive') },
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
          tokenClock: trueClock,
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
      await foreign.stop()
      disconnects.stop()
      await sweeper?.stop()
      // The log of a lone server ends with it.
      if (!isShared) await fanout?.catchUp(config.drainMs)
      await webhookFanout?.stop()
      await fanout?.stop()
      webhookWork.stop()
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
      await traces?.stop()
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
