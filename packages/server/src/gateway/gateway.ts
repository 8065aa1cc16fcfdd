// A gateway: the long-lived connections of this process. This file only builds the parts, from the sink to
// the source: each part is given parts that exist already, and no part reaches for a later one.
import { CLOSE } from '@greendot/protocol'
import type { Archive } from '../archive/port.ts'
import type { Bus } from '../bus/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { randomUpTo } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/tally.ts'
import type { Actions } from '../presence/people/actions.ts'
import type { Tracker } from '../presence/pipeline/tracker.ts'
import type { Evaluator } from '../presence/privacy/evaluator.ts'
import type { Relations } from '../presence/privacy/relations.ts'
import type { QueryCache } from '../presence/reading/query-cache.ts'
import type { Reader } from '../presence/reading/reader.ts'
import type { PresenceStore } from '../store/port.ts'
import { createConnectionNumbers } from './connection-numbers.ts'
import { createDelivery } from './delivery/delivery.ts'
import type { Doubts } from './doubts.ts'
import { createIdentity } from './identity.ts'
import { createInbox } from './inbox.ts'
import { createInterner } from './interner.ts'
import { startMembership } from './membership.ts'
import { createFrameHandler } from './sessions/frames.ts'
import { createHttpSessions, type HttpSessions } from './sessions/http-sessions.ts'
import { startLiveness } from './sessions/liveness.ts'
import { createOwnViews } from './sessions/own-views.ts'
import { createSessionTable } from './sessions/session-table.ts'
import { createSessions } from './sessions/sessions.ts'
import { createSockets, type Sockets } from './sessions/sockets.ts'
import { createStreams, type Streams } from './sessions/streams.ts'
import { createInputTable } from './watching/visibility-inputs.ts'
import { createWatching } from './watching/watching.ts'

/** Clients told to reconnect elsewhere come back spread over this share of the drain time. */
const DRAIN_SPREAD = 0.5
const DRAIN_CHECK_EVERY_MS = 50

/** Numbers that are true right now, as opposed to counted since the start. */
export interface GatewayGauges {
  gatewayId: string
  sessions: number
  streams: number
  watches: number
  watchedUsers: number
  slowReaders: number
  /** Changes on their way round a large audience, and those that wait for one of the walkers. */
  wavesWalking: number
  wavesWaiting: number
}

export interface Gateway {
  sockets: Sockets
  streams: Streams
  httpSessions: HttpSessions
  /** The socket of a row can take more again. */
  unblock(row: number): void
  gauges(): GatewayGauges
  isHealthy(): boolean
  /** Tells clients to reconnect elsewhere, waits for them as long as configured, then closes the rest. */
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
  cache: QueryCache
  relations: Relations
  evaluator: Evaluator
  actions: Actions
  doubts: Doubts
  tally: Tally
  clock: Clock
  logger: Logger
}

export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { config, tracker, clock } = parts
  const { policy, rules, flushMs, watchLimit, sessionsPerUser } = config
  const identity = createIdentity()
  const numbers = createConnectionNumbers()
  const inputs = createInputTable()
  const interner = createInterner(inputs.forget)
  const delivery = createDelivery({ ...parts, flushMs, plans: config })
  const watching = createWatching({ ...parts, interner, inputs, delivery, identity, rules, watchLimit })

  const table = createSessionTable(identity)
  const ownViews = createOwnViews({ table, interner, delivery })
  const held = { table, numbers, identity, interner, delivery, watching, ownViews }
  const sessions = createSessions({ ...parts, ...held, policy, sessionsPerUser })
  const streams = createStreams({ ...parts, ...held, watchLimit, streamsPerUser: sessionsPerUser })
  const handleFrame = createFrameHandler({ ...parts, ...held, sessions })
  const { framesPerSecond } = config
  const sockets = createSockets({ ...parts, ...held, sessions, handleFrame, policy, framesPerSecond })
  const httpSessions = createHttpSessions({ ...held, sessions, sockets, tracker, policy, clock })
  const liveness = startLiveness({ table, sessions, sockets, policy, clock })

  const inbox = createInbox({ ...parts, ...held, sessions, sockets, streams })
  const membership = await startMembership({
    ...parts,
    ...held,
    sessions,
    inbox,
    leaseMs: config.gatewayLeaseMs,
  })

  const { columns } = table
  const openRows = () => [...table.rows()].filter((row) => columns.sockets[row] !== null)

  return {
    sockets,
    streams,
    httpSessions,
    unblock: delivery.unblock,
    gauges: () => ({
      gatewayId: identity.id(),
      sessions: columns.live,
      streams: streams.count(),
      watches: delivery.edges.count(),
      watchedUsers: watching.targetCount(),
      slowReaders: delivery.blocked(),
      wavesWalking: delivery.waves().walking,
      wavesWaiting: delivery.waves().waiting,
    }),
    isHealthy: membership.isHealthy,
    async drain() {
      // Browsers reopen their streams by themselves, elsewhere.
      streams.endAll()
      for (const row of openRows()) {
        const wait = randomUpTo(config.drainMs * DRAIN_SPREAD)
        delivery.send(row, JSON.stringify({ type: 'drain', reconnect_after_ms: wait }))
      }
      const giveUpAt = clock.now() + config.drainMs
      while (openRows().length > 0 && clock.now() < giveUpAt) await clock.sleep(DRAIN_CHECK_EVERY_MS)
      for (const row of openRows()) sockets.hangUp(row, CLOSE.shuttingDown, 'shutting down')
    },
    async stop() {
      liveness.stop()
      streams.endAll()
      streams.stop()
      delivery.stop()
      await membership.stop()
    },
  }
}
