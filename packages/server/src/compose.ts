// From a configuration it builds the pipeline and starts it, on the adapters that adapters.ts chooses, with HTTP and gRPC
// in front of it. Each part is given parts that exist already, and no part reaches for a later one.
import { openArchive, openMemory, openRedis, topicsOf } from './adapters.ts'
import { createDoubts } from './gateway/doubts.ts'
import { createAccess } from './http/access/access.ts'
import { type Siblings, startHttpApp } from './http/http-app.ts'
import { createFeed } from './ops/feed.ts'
import { startPipeline } from './pipeline.ts'
import type { Clock } from './platform/clock.ts'
import { type Config, warningsAbout } from './platform/config/config.ts'
import { startHousekeeping } from './platform/housekeeping.ts'
import type { Logger, RootLogger } from './platform/logger.ts'
import { startLoopWatch } from './platform/measuring/loop-watch.ts'
import { createSteadyClock } from './platform/steady-clock.ts'
import { createStoreClock } from './platform/store-clock.ts'
import { isGatewayName, SWEEPER_PREFIX } from './presence/cluster/shard-owner.ts'
import { toPresence } from './presence/core/view.ts'

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
  const { roles } = config
  const isShared = config.redisUrl !== null
  const doubts = createDoubts()
  const archive = await openArchive(config, isShared ? 'together' : 'alone')
  const hot =
    config.redisUrl === null
      ? openMemory({ logger, clock: options.clock })
      : await openRedis(config.redisUrl, config, { logger, clock: options.clock, doubts })
  const feed = createFeed(options.clock)
  const pipeline = await startPipeline({
    config,
    archive,
    hot,
    isShared,
    doubts,
    openTopic: config.kafkaBrokers.length > 0 ? (clock) => topicsOf(config, { clock, logger }) : null,
    clock: isShared ? options.clock : createSteadyClock(options.clock, logger),
    machineClock: options.clock,
    logger,
    onChange: (userId, record, now) => feed.show(() => toPresence(userId, record), now),
  })
  const { tally, clock, trueClock, gateway, archivist, dutySweep } = pipeline

  const loopWatch = startLoopWatch(
    clock,
    () => tally.connectionsOpened > tally.connectionsClosed,
    (lateMs) => {
      tally.loopDelays.observe(lateMs)
      tally.loopBlockMsMax = Math.max(tally.loopBlockMsMax, lateMs)
    },
  )
  const housekeeping = startHousekeeping(clock, () => tally.connectionsOpened + tally.connectionsClosed)

  const access = createAccess({ ...pipeline, rateLimiter: hot.rateLimiter, tokenClock: trueClock })
  const app = startHttpApp({
    ...pipeline,
    access,
    feed,
    siblings: options.siblings ?? null,
    processGauges: () => ({
      trackerDepth: pipeline.tracker.depth(),
      sweepLagMs: pipeline.sweepLagMs(),
      archiveBacklog: archivist.backlog(),
      isArchiveFailing: archivist.isFailing(),
      logLinesSuppressed: logger.suppressedLines(),
      deadLetters: pipeline.deadLetters(),
      dutiesSince: { announce: dutySweep.oldestSince('announce'), archive: dutySweep.oldestSince('archive') },
      clockOffsetMs: isShared ? clock.offsetMs() : clock.now() - options.clock.now(),
    }),
  })
  const grpc =
    config.grpcPort === null
      ? null
      : await (await import('./grpc/grpc-app.ts')).startGrpcApp({
          ...pipeline,
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
      const lost = await pipeline.leave()
      feed.stop()
      await app.stop()
      await grpc?.stop()
      access.stop()
      housekeeping.stop()
      loopWatch.stop()
      await pipeline.close()
      logger.info('stopped')
      return lost
    },
  }
}
