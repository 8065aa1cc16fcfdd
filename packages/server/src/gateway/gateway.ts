// A gateway: the sockets, the sessions behind them, who watches whom, and what goes out to whom.
// This file only fits the parts together; each part has its own file and its own invariant.
import { CLOSE } from '@greendot/protocol'
import type { Archive } from '../archive/port.ts'
import type { Bus } from '../bus/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/tally.ts'
import { VERSION } from '../platform/version.ts'
import type { Tracker } from '../presence/tracker.ts'
import type { PresenceStore } from '../store/port.ts'
import { createActions } from './actions.ts'
import { createAuthenticator } from './auth.ts'
import { createFrameHandler } from './frames.ts'
import { createGuard } from './http/guard.ts'
import { opsRoutes } from './http/ops-routes.ts'
import { page } from './http/page.ts'
import { presenceRoutes } from './http/presence-routes.ts'
import { selfRoutes } from './http/self-routes.ts'
import { serveHttp } from './http/server.ts'
import { createInterner } from './interner.ts'
import { startLiveness } from './liveness.ts'
import { createOutbox } from './outbox.ts'
import { createOwnViews } from './own-views.ts'
import { createSessionTable } from './session-table.ts'
import { createSessions } from './sessions.ts'
import { createSockets } from './sockets.ts'
import { createStats, type Gauges } from './stats.ts'
import { createTargetTable } from './target-table.ts'
import { NIL } from './watch-index.ts'
import { createWatches } from './watches.ts'

/** Clients told to go elsewhere come back spread over this share of the drain time. */
const DRAIN_SPREAD = 0.5
const DRAIN_LOOK_EVERY_MS = 50

export interface Gateway {
  url: string
  /** Tells clients to go elsewhere, waits for them as long as configured, then closes the rest. */
  drain(): Promise<void>
  stop(): Promise<void>
}

export interface GatewayParts {
  config: Config
  gatewayId: string
  store: PresenceStore
  bus: Bus
  archive: Archive
  tracker: Tracker
  tally: Tally
  clock: Clock
  logger: Logger
  /** What the rest of the process can tell about itself. */
  processGauges: () => Pick<Gauges, 'trackerDepth' | 'sweepLagMs' | 'archiveBacklog'>
}

export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { config, gatewayId, store, bus, archive, tracker, tally, clock, logger } = parts
  const { policy } = config
  const interner = createInterner()
  const table = createSessionTable(gatewayId)
  const targets = createTargetTable()
  const { columns } = table
  let isDraining = false

  const ownViews = createOwnViews({ table, interner, outbox: () => outbox })
  const outbox = createOutbox({
    targets,
    clock,
    flushMs: config.flushMs,
    ownFrame: (row) => ownViews.frameFor(row),
    send(row, frame) {
      const sent = columns.sockets[row]?.send(frame) ?? 0
      tally.framesOut++
      return sent > 0 ? 'sent' : sent === 0 ? 'gone' : 'blocked'
    },
    onFrame(changes, waitedMs) {
      tally.deliveries += changes
      tally.waits.observe(waitedMs, changes)
    },
  })
  const watches = createWatches({ interner, targets, outbox, store, tracker, gatewayId })
  const sessions = createSessions({
    table,
    interner,
    tracker,
    policy,
    clock,
    gatewayId,
    sessionsPerUser: config.sessionsPerUser,
    tally,
    onEnd(row) {
      watches.clear(row)
      ownViews.ended(row)
    },
  })
  const actions = createActions(tracker, clock)
  const handleFrame = createFrameHandler({
    sessions,
    watches,
    actions,
    archive,
    watchLimit: config.watchLimit,
    send: (row, frame) => void columns.sockets[row]?.send(frame),
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
    onWelcome: (row, tracked) => ownViews.welcomed(row, tracked.revision),
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
  const stats = createStats({
    gatewayId,
    tally,
    store,
    clock,
    gauges: () => ({
      sessions: columns.live,
      watches: outbox.index.edges(),
      watchedUsers: watches.targets(),
      slowReaders: outbox.blocked(),
      ...parts.processGauges(),
    }),
  })

  const unsubscribe = await bus.subscribe(gatewayId, (messages) => {
    for (const message of messages) {
      if (message.kind === 'change') watches.receive(message)
      else ownViews.receive(message)
    }
  })

  const authenticator = createAuthenticator(config, clock)
  const server = serveHttp({
    host: config.host,
    port: config.port,
    dev: config.dev,
    guard: createGuard({ authenticator, logger, dev: config.dev }),
    routes: {
      ...presenceRoutes(tracker),
      ...selfRoutes({ actions, sessions, sockets, table, policy, clock }),
      ...opsRoutes({ stats, store, archive, isDraining: () => isDraining, version: VERSION }),
    },
    page,
    authenticator,
    sockets,
    onDrain: (row) => outbox.unblock(row),
    isDraining: () => isDraining,
  })

  function* openRows(): Generator<number> {
    for (let row = 0; row < columns.length; row++)
      if (columns.user[row] !== NIL && columns.sockets[row]) yield row
  }

  async function drain(): Promise<void> {
    isDraining = true
    const rows = [...openRows()]
    const spreadMs = config.drainMs * DRAIN_SPREAD
    for (const [position, row] of rows.entries()) {
      const reconnectAfterMs = Math.round((spreadMs * position) / rows.length)
      columns.sockets[row]!.send(JSON.stringify({ type: 'drain', reconnect_after_ms: reconnectAfterMs }))
    }
    const giveUpAt = clock.now() + config.drainMs
    while (!openRows().next().done && clock.now() < giveUpAt) await clock.sleep(DRAIN_LOOK_EVERY_MS)
    for (const row of [...openRows()]) sockets.hangUp(row, CLOSE.shuttingDown, 'shutting down')
  }

  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`,
    drain,
    async stop() {
      liveness.stop()
      outbox.stop()
      stats.stop()
      unsubscribe()
      await server.stop(true)
    },
  }
}
