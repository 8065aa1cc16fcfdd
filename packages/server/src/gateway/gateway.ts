// A gateway: the sockets, the sessions behind them, who watches whom, and what goes out to whom.
// This file only fits the parts together; each part has its own file and its own invariant.
import { CLOSE } from '@greendot/protocol'
import type { Archive } from '../archive/port.ts'
import type { Bus } from '../bus/port.ts'
import type { Routes } from '../http/route.ts'
import { sessionRoutes } from '../http/routes/sessions.ts'
import type { GatewayGauges } from '../ops/stats.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { randomUpTo } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/tally.ts'
import { isInvisible } from '../presence/core/machine.ts'
import type { Actions } from '../presence/people/actions.ts'
import { loseGateway } from '../presence/pipeline/sweeper.ts'
import type { Tracker } from '../presence/pipeline/tracker.ts'
import { asSeen } from '../presence/privacy/as-seen.ts'
import type { Relations } from '../presence/privacy/relations.ts'
import type { Reader } from '../presence/reading/reader.ts'
import type { PresenceStore } from '../store/port.ts'
import { createOutbox } from './delivery/outbox.ts'
import { createTargetTable } from './delivery/target-table.ts'
import { NIL } from './delivery/watch-index.ts'
import { createInbox } from './inbox.ts'
import { createInterner } from './interner.ts'
import { createMembership } from './membership.ts'
import { createFrameHandler } from './sessions/frames.ts'
import { startLiveness } from './sessions/liveness.ts'
import { createOwnViews } from './sessions/own-views.ts'
import { createSessionTable } from './sessions/session-table.ts'
import { createSessions } from './sessions/sessions.ts'
import { createSockets, type Sockets } from './sessions/sockets.ts'
import { createStreams, type Streams } from './sessions/streams.ts'
import { createFollowing } from './watching/contact-following.ts'
import { createSights } from './watching/view-levels.ts'
import { createDiscretions } from './watching/visibility-inputs.ts'
import { createOpenness } from './watching/watcher-exposure.ts'
import { createWatches } from './watching/watches.ts'

/** Clients told to go elsewhere come back spread over this share of the drain time. */
const DRAIN_SPREAD = 0.5
const DRAIN_LOOK_EVERY_MS = 50

export interface Gateway {
  sockets: Sockets
  streams: Streams
  routes: Routes
  /** The socket of a row can take more again. */
  unblock(row: number): void
  gauges(): GatewayGauges
  /** Something may have been lost; heals when the store answers. */
  doubt(why: string): void
  isHealthy(): boolean
  /** Tells clients to go elsewhere, waits for them as long as configured, then closes the rest. */
  drain(): Promise<void>
  stop(): Promise<void>
}

export interface GatewayParts {
  config: Config
  store: PresenceStore
  bus: Bus
  archive: Archive
  tracker: Tracker
  reader: Reader
  relations: Relations
  actions: Actions
  tally: Tally
  clock: Clock
  /** A whole number from zero up to this one, by chance. */
  chance(below: number): number
  logger: Logger
}

export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { config, store, bus, archive, tracker, reader, relations, actions, tally, clock, chance, logger } =
    parts
  const { policy, rules, gatewayLeaseMs, watchLimit } = config
  const gatewayId = () => membership.id()
  const discretions = createDiscretions()
  const interner = createInterner(discretions.forget)
  const table = createSessionTable(gatewayId, chance)
  const targets = createTargetTable({
    mask: (json, sight) => JSON.stringify(asSeen(JSON.parse(json), sight, rules, clock.now())),
    now: clock.now,
  })
  const { columns } = table

  const ownViews = createOwnViews({
    table,
    interner,
    outbox: () => outbox,
    onOpenness: (user) => openness.review(user),
  })
  const outbox = createOutbox({
    targets,
    clock,
    flushMs: config.flushMs,
    plans: config,
    ownFrame: (row) => ownViews.frameFor(row),
    send(row, frame) {
      tally.framesOut++
      const socket = columns.sockets[row]
      if (!socket) return streams.send(row, frame)
      const sent = socket.send(frame)
      return sent > 0 ? 'sent' : sent === 0 ? 'gone' : 'blocked'
    },
    onFrame(changes, waitedMs) {
      tally.deliveries += changes
      tally.waits.observe(waitedMs, changes)
    },
  })
  const connectionsOf = (user: number) => [
    ...sessions.rowsOf(interner.name(user)),
    ...streams.rowsOf(interner.name(user)),
  ]
  const openness = createOpenness({
    outbox,
    discretions,
    rules,
    isOpenlyHere: ownViews.isOpenlyHere,
    connectionsOf,
  })
  const sights = createSights({
    interner,
    discretions,
    outbox,
    targets,
    relations,
    openness,
    rules,
    clock,
    viewerOf: (row) => (table.isLive(row) ? columns.user[row]! : (streams.viewerOf(row) ?? NIL)),
    connectionsOf,
  })
  const watches = createWatches({
    interner,
    targets,
    outbox,
    store,
    reader,
    tracker,
    discretions,
    sights,
    openness,
    rules,
    gatewayId,
    now: clock.now,
    // With Redis a commit takes as long as the network: nobody could tell turns, and nobody waits.
    settle: config.redisUrl === null ? tracker.settle : () => Promise.resolve(),
    onTrouble: () => membership.doubt('interest could not be registered'),
  })
  const streams = createStreams({
    table,
    watches,
    outbox,
    clock,
    watchLimit,
    streamsPerUser: config.sessionsPerUser,
  })
  const sessions = createSessions({
    table,
    interner,
    tracker,
    policy,
    clock,
    gatewayId,
    formerGatewayIds: () => membership.formerIds(),
    sessionsPerUser: config.sessionsPerUser,
    tally,
    onTracked: (row, { record }) => inbox.takeDiscretion(columns.user[row]!, record),
    onEnd(row) {
      following.clear(row)
      watches.clear(row)
      ownViews.ended(row)
    },
  })
  const send = (row: number, frame: string) => void columns.sockets[row]?.send(frame)
  const following = createFollowing({
    archive,
    watches,
    watchLimit,
    rules,
    clock,
    logger,
    ownerIdOf: sessions.userIdOf,
    send,
  })
  const handleFrame = createFrameHandler({ sessions, watches, actions, following, watchLimit, send })
  const inbox = createInbox({
    interner,
    discretions,
    sights,
    watches,
    following,
    ownViews,
    sessions,
    sockets: () => sockets,
    streams,
    reader,
  })
  const sockets = createSockets({
    table,
    sessions,
    handleFrame,
    policy,
    framesPerSecond: config.framesPerSecond,
    clock,
    logger,
    tally,
    onWelcome: (row, { record, revision }) =>
      ownViews.welcomed(row, revision, isInvisible(record, clock.now())),
  })
  const liveness = startLiveness({
    table,
    sessions,
    policy,
    clock,
    expire: (row) =>
      sockets.hangUp(row, CLOSE.badToken, 'token expired', {
        code: 'token_expired',
        message: 'the token has expired; connect again with a new one',
      }),
  })

  const onGap = () => membership.doubt('messages may have been missed')
  let unsubscribe = () => {}

  const membership = createMembership({
    store,
    clock,
    logger,
    leaseMs: gatewayLeaseMs,
    async announceAll() {
      const listened = unsubscribe
      unsubscribe = await bus.subscribe(gatewayId(), inbox.receive, onGap)
      listened()
      ownViews.forgetRevisions()
      await watches.registerAgain()
      await sessions.announceAgain()
    },
    async abandon(formerId, lostAt) {
      await loseGateway(tracker, formerId, await store.usersOf(formerId), lostAt, gatewayLeaseMs)
      await store.dropGateway(formerId)
    },
    async refresh() {
      relations.forget()
      following.refresh()
      await watches.refresh()
    },
  })
  unsubscribe = await bus.subscribe(gatewayId(), inbox.receive, onGap)
  await membership.start()

  const openRows = () => [...table.rows()].filter((row) => columns.sockets[row] !== null)

  return {
    sockets,
    streams,
    routes: sessionRoutes({ sessions, sockets, table, ownViews, tracker, policy, clock }),
    unblock: (row) => outbox.unblock(row),
    gauges: () => ({
      gatewayId: gatewayId(),
      sessions: columns.live,
      streams: streams.count(),
      watches: outbox.index.edges(),
      watchedUsers: watches.targets(),
      slowReaders: outbox.blocked(),
      wavesWalking: outbox.waves().walking,
      wavesWaiting: outbox.waves().waiting,
    }),
    doubt: membership.doubt,
    isHealthy: membership.isHealthy,
    async drain() {
      // Browsers open theirs again by themselves, elsewhere.
      streams.endAll()
      const rows = openRows()
      const spreadMs = config.drainMs * DRAIN_SPREAD
      // By chance, which spreads them as well as counting and tells nobody how many they are.
      for (const row of rows) {
        const frame = { type: 'drain', reconnect_after_ms: randomUpTo(spreadMs) }
        columns.sockets[row]!.send(JSON.stringify(frame))
      }
      const giveUpAt = clock.now() + config.drainMs
      while (openRows().length > 0 && clock.now() < giveUpAt) await clock.sleep(DRAIN_LOOK_EVERY_MS)
      for (const row of openRows()) sockets.hangUp(row, CLOSE.shuttingDown, 'shutting down')
    },
    async stop() {
      liveness.stop()
      streams.endAll()
      streams.stop()
      outbox.stop()
      unsubscribe()
      await membership.stop()
    },
  }
}
