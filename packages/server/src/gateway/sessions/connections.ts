// The door of this room: every long-lived connection of this process. Sessions by WebSocket and by HTTP, and
// server-sent event streams, which are no sessions. Connections are handed to watching and delivery, session
// events to the tracker.
import { CLOSE } from '@greendot/protocol'
import type { Bus } from '../../bus/port.ts'
import type { Holder } from '../../foreign/routing.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/config.ts'
import { randomUpTo } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Tally } from '../../platform/measuring/tally.ts'
import type { Actions } from '../../presence/people/actions.ts'
import type { Disconnects } from '../../presence/people/disconnects.ts'
import type { Tracker } from '../../presence/pipeline/tracker.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { ConnectionNumbers } from '../connection-numbers.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Identity } from '../identity.ts'
import type { Interner } from '../interner.ts'
import type { Watching } from '../watching/watching.ts'
import { createDisconnecting, type Disconnecting } from './disconnecting.ts'
import { createEndedSessions } from './ended-sessions.ts'
import { createForeignSessions } from './foreign-sessions.ts'
import { createFrameHandler } from './frames.ts'
import { createHttpSessions, type HttpSessions } from './http-sessions.ts'
import { startLiveness } from './liveness.ts'
import { createOwnViews, type OwnViews } from './own-views.ts'
import { createSessionTable } from './session-table.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { createSockets, type Sockets } from './sockets.ts'
import { createStreams, type Streams } from './streams.ts'

export type { HttpHeartbeat, HttpSessionState, HttpSessions, RecordedHeartbeat } from './http-sessions.ts'
export type { Opening, Socket, SocketData } from './session-table.ts'
export type { Sockets } from './sockets.ts'
export type { StreamConnection, StreamEnd, StreamSink } from './stream-connections.ts'
export type { Streams } from './streams.ts'

/** Clients told to reconnect elsewhere come back spread over this share of the drain time. */
const DRAIN_SPREAD = 0.5
const DRAIN_CHECK_EVERY_MS = 50

export interface Connections {
  sessions: Sessions
  ownViews: OwnViews
  sockets: Sockets
  streams: Streams
  httpSessions: HttpSessions
  foreignSessions: Holder
  disconnect: Disconnecting
  sessionCount(): number
  /** Tells clients to reconnect elsewhere, waits for them as long as configured, then closes the rest. */
  drain(): Promise<void>
  stop(): void
}

export interface ConnectionsParts {
  config: Config
  numbers: ConnectionNumbers
  identity: Identity
  interner: Interner
  delivery: Delivery
  watching: Watching
  tracker: Tracker
  store: PresenceStore
  bus: Bus
  actions: Actions
  disconnects: Pick<Disconnects, 'isRefused'>
  tally: Tally
  clock: Clock
  logger: Logger
}

export function startConnections(parts: ConnectionsParts): Connections {
  const { config, identity, delivery, clock } = parts
  const { policy, sessionsPerUser, framesPerSecond, watchLimit } = config
  const table = createSessionTable(identity)
  const ownViews = createOwnViews({ ...parts, table })
  const sessions = createSessions({ ...parts, table, ownViews, policy, sessionsPerUser })
  const streams = createStreams({ ...parts, watchLimit, streamsPerUser: sessionsPerUser })
  const handleFrame = createFrameHandler({ ...parts, sessions })
  const sockets = createSockets({
    ...parts,
    table,
    sessions,
    ownViews,
    handleFrame,
    policy,
    framesPerSecond,
  })
  const ended = createEndedSessions(clock, policy.heartbeatTtlMs)
  const httpSessions = createHttpSessions({ ...parts, table, sessions, sockets, ownViews, ended, policy })
  const foreignSessions = createForeignSessions({ table, sessions, sockets, ended, policy, clock })
  const disconnect = createDisconnecting({ table, sessions, sockets, streams, ended })
  const liveness = startLiveness({ table, sessions, sockets, policy, clock })

  const openRows = () => [...table.rows()].filter((row) => table.columns.sockets[row] !== null)

  return {
    sessions,
    ownViews,
    sockets,
    streams,
    httpSessions,
    foreignSessions,
    disconnect,
    sessionCount: () => table.columns.live,
    async drain() {
      // Browsers reopen their streams by themselves, elsewhere.
      streams.endAll()
      for (const row of openRows()) {
        const waitMs = randomUpTo(config.drainMs * DRAIN_SPREAD)
        delivery.send(row, JSON.stringify({ type: 'drain', reconnect_after_ms: waitMs }))
      }
      const giveUpAt = clock.now() + config.drainMs
      while (openRows().length > 0 && clock.now() < giveUpAt) await clock.sleep(DRAIN_CHECK_EVERY_MS)
      for (const row of openRows()) sockets.hangUp(row, CLOSE.shuttingDown, 'shutting down')
    },
    stop() {
      liveness.stop()
      streams.endAll()
      streams.stop()
    },
  }
}
