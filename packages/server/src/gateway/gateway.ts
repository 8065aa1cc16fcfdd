// A gateway: the long-lived connections of this process. This file only builds the parts, from the sink to
// the source: each part is given parts that exist already, and no part reaches for a later one.
import type { Archive } from '../archive/port.ts'
import type { Bus } from '../bus/port.ts'
import type { ForeignRouting } from '../foreign/routing.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import type { Tracer } from '../platform/measuring/tracing.ts'
import type { Actions } from '../presence/people/actions.ts'
import type { Disconnects } from '../presence/people/disconnects.ts'
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
import { type HttpSessions, type Sockets, type Streams, startConnections } from './sessions/connections.ts'
import { createWatching } from './watching/watching.ts'

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
  disconnects: Pick<Disconnects, 'listen' | 'isRefused'>
  foreign: Pick<ForeignRouting, 'hold' | 'handOver'>
  tally: Tally
  clock: Clock
  logger: Logger
  /** Null where nothing is traced. */
  tracer?: Tracer | null
}

export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { config } = parts
  const { rules, flushMs, watchLimit } = config
  const identity = createIdentity()
  const numbers = createConnectionNumbers()
  const interner = createInterner()
  const delivery = createDelivery({ ...parts, interner, flushMs, plans: config })
  const watching = createWatching({ ...parts, interner, delivery, identity, rules, watchLimit })
  const connections = startConnections({ ...parts, numbers, identity, interner, delivery, watching })
  const inbox = createInbox({ ...parts, ...connections, watching })
  const membership = await startMembership({
    ...parts,
    ...connections,
    identity,
    watching,
    inbox,
    leaseMs: config.gatewayLeaseMs,
  })
  parts.disconnects.listen(connections.disconnect)
  await parts.foreign.hold(connections.foreignSessions)

  return {
    sockets: connections.sockets,
    streams: connections.streams,
    httpSessions: connections.httpSessions,
    gauges: () => ({
      gatewayId: identity.id(),
      sessions: connections.sessionCount(),
      streams: connections.streams.count(),
      watches: delivery.edges.count(),
      watchedUsers: watching.targetCount(),
      slowReaders: delivery.blocked(),
      wavesWalking: delivery.waves().walking,
      wavesWaiting: delivery.waves().waiting,
    }),
    isHealthy: membership.isHealthy,
    async drain() {
      await parts.foreign.handOver()
      await connections.drain()
    },
    async stop() {
      connections.stop()
      delivery.stop()
      await membership.stop()
    },
  }
}
