// Everything of a process behind its network interfaces: presence, the sweeper, the consumers of the change log and the
// gateway, built from adapters that are open already. compose.ts puts HTTP and gRPC in front of it; a simulation runs
// many of them in one process. Each part is given parts that exist already.
import { type HotState, settleMsOf } from './adapters.ts'
import type { Archive } from './archive/port.ts'
import { groupOf, startFanout } from './fanout/fanout.ts'
import { createHandledFirst } from './fanout/handled-first.ts'
import { createHistoryConsumer } from './fanout/history.ts'
import { startHistorySweep } from './fanout/history-sweep.ts'
import { createKafkaRelay } from './fanout/kafka-relay.ts'
import { startForeignRouting } from './foreign/routing.ts'
import type { Doubts } from './gateway/doubts.ts'
import { startGateway } from './gateway/gateway.ts'
import type { ChangeLog } from './log/port.ts'
import { startLagWatch } from './ops/lag-watch.ts'
import { openTraces } from './ops/traces.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config/config.ts'
import { randomName } from './platform/ids.ts'
import type { RootLogger } from './platform/logger.ts'
import { createTally } from './platform/measuring/tally.ts'
import { createStoreClock } from './platform/store-clock.ts'
import { startHealingWatch } from './presence/cluster/healing-watch.ts'
import { createOutages } from './presence/cluster/outages.ts'
import { HOLDER_PREFIX, SWEEPER_PREFIX } from './presence/cluster/shard-owner.ts'
import type { UserRecord } from './presence/core/record.ts'
import { startDisconnects } from './presence/people/disconnects.ts'
import { rememberHere, restore } from './presence/pipeline/restore.ts'
import { startSweeper } from './presence/pipeline/sweeper.ts'
import { createPresence, type Replacements } from './presence/presence.ts'
import { openWebhooks } from './webhooks/webhooks.ts'

/** Often enough that a crash is dated to within five seconds. */
const ALIVE_EVERY_MS = 2_000
/** A process that is up has marked itself alive within this time. */
const ALIVE_MS_MAX = 5 * ALIVE_EVERY_MS
/** Users named in a log line. */
const LOST_NAMED_MAX = 10

export interface PipelineParts {
  config: Config
  archive: Archive
  hot: HotState
  /** Several processes share the hot state. */
  isShared: boolean
  doubts: Doubts
  /** Opens a topic of Kafka, where it is configured. */
  openTopic: ((clock: Clock) => (topic: string) => Promise<ChangeLog>) | null
  clock: Clock
  /** The clock of the machine, with its steps. */
  machineClock: Clock
  logger: RootLogger
  /** A user changed, or who may see the user did. */
  onChange?: (userId: string, record: UserRecord, now: number) => void
  replace?: Replacements
}

export type Pipeline = Awaited<ReturnType<typeof startPipeline>>

export async function startPipeline(parts: PipelineParts) {
  const { config, archive, hot, isShared, doubts, openTopic, logger, onChange, replace } = parts
  const { policy, rules, roles, historyDays } = config
  const { bus } = hot
  const clock = await createStoreClock(parts.clock, () => hot.store.time(), logger)
  await archive.migrate()
  const aliveAt = await archive.aliveAt()
  await hot.store.lookAtShards(clock.now(), aliveAt !== null && clock.now() - aliveAt < ALIVE_MS_MAX)
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
  const trueClock = isShared ? clock : parts.machineClock
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
  const onTrouble = () => doubts.report('events could not be committed')
  const streaming =
    openTopic === null
      ? null
      : // Loaded where it is used, because it takes memory.
        await (await import('./streaming/streaming.ts')).openStreaming({
          policy,
          openTopic: openTopic(clock),
          bus,
          clock,
          logger,
          settleMs: settleMsOf(config),
          onTrouble,
        })
  const { whenHandled } = hot
  // A part of the store that is away keeps gateways from announcing what another part has forgotten.
  const outages = createOutages(clock, settleMsOf(config))
  hot.onOutages?.(outages)
  const whole = outages.settling(hot.store)
  const store = streaming === null ? whole : streaming.settling(whole)
  const healingWatch = isShared
    ? startHealingWatch({ store, outages, leaseMs: config.gatewayLeaseMs, clock })
    : null
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
    historyDays,
    clock,
    logger,
    onChange(userId, record) {
      tally.changes++
      onChange?.(userId, record, clock.now())
    },
    onTrouble,
    onBatch: (tookMs) => tally.batches.observe(tookMs),
    tracer,
    ...(replace && { replace }),
  })
  const { tracker, archivist, dutySweep, choices } = presence
  hot.onOutages?.({ begin: () => {}, end: choices.readBack })
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
    tally,
    cluster: isShared ? { name: randomName(HOLDER_PREFIX), leaseMs: config.gatewayLeaseMs } : null,
  })
  const owner =
    streaming !== null && roles.includes('presence')
      ? await streaming.startOwner(presence.createOwnTracker, foreign)
      : null
  const ownerLag = streaming && owner ? startLagWatch(streaming.updatesLag, clock) : null
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
      pendingMax: config.webhookPendingMax,
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
  const shared = { ...presence, config, store, bus, archive, tally, clock, logger, disconnects, foreign }
  const gateway = roles.includes('gateway') ? await startGateway({ ...shared, doubts, tracer }) : null

  return {
    ...shared,
    gateway,
    webhooks,
    trueClock,
    logLag: () => ({ ...fanout?.lags(), ...(ownerLag && { owners: ownerLag.lag() }) }),
    deadLetters: () => streaming?.deadLetters() ?? 0,
    sweepLagMs: () => sweeper?.lagMs() ?? 0,
    /** Clients go elsewhere, then all work ends. Resolves with the number of users whose last change is not durable. */
    async leave(): Promise<number> {
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
      ownerLag?.stop()
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
      await traces?.stop(config.drainMs)
      return lost.length
    },
    /** Once nothing asks any more. */
    async close(): Promise<void> {
      aliveTimer.stop()
      healingWatch?.stop()
      clock.stop()
      // A database that is away keeps the row of two seconds before.
      await archive.markAlive(clock.now()).catch(() => {})
      await hot.close()
      await archive.close()
    },
  }
}
