// The gRPC side of a process: the same actions, readers and connections as behind HTTP, over another wire. This file is
// imported only where the port is on, and with it the library.
import type { UntypedServiceImplementation } from '@grpc/grpc-js'
import type { Archive } from '../archive/port.ts'
import type { ForeignRouting } from '../foreign/routing.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Access } from '../http/access/access.ts'
import { createReadiness } from '../ops/readiness.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import { DEV_GRPC_PORT } from '../platform/config/settings.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import type { Actions } from '../presence/people/actions.ts'
import type { Disconnects } from '../presence/people/disconnects.ts'
import type { Archivist } from '../presence/pipeline/archivist.ts'
import type { ViewerReader } from '../presence/reading/viewer-reader.ts'
import type { PresenceStore } from '../store/port.ts'
import { type Binding, createBinding } from './binding.ts'
import type { Calls } from './call.ts'
import { createCallGuard } from './call-guard.ts'
import { createCalls } from './calls.ts'
import { loadProtoFiles } from './definitions.ts'
import { createHealth } from './health.ts'
import { listen } from './listener.ts'
import { createReflection } from './reflection.ts'
import { createStatusWriter } from './status.ts'
import { createTransport } from './transport.ts'

const SERVICE = 'greendot.v1.PresenceService'

export interface GrpcApp {
  /** Host and port. */
  address: string
  /** Whether the port is another one than was asked for. */
  isPicked: boolean
  /** From now on the health service says that this process serves no more. */
  drain(): void
  stop(): Promise<void>
}

export interface GrpcAppParts {
  config: Config
  port: number
  access: Access
  store: PresenceStore
  archive: Archive
  viewerReader: ViewerReader
  actions: Actions
  disconnects: Pick<Disconnects, 'isRefused'>
  archivist: Archivist
  foreign: ForeignRouting
  /** Null in a process without connections. */
  gateway: Gateway | null
  tally: Tally
  clock: Clock
  /** For the instants in tokens. */
  tokenClock: Pick<Clock, 'now'>
  logger: Logger
}

export async function startGrpcApp(parts: GrpcAppParts): Promise<GrpcApp> {
  const { config, port, access, gateway, clock, logger } = parts
  const { host, dev, reusePort } = config
  let isDraining = false
  const files = loadProtoFiles()
  const transport = createTransport(clock)
  const { policy, framesPerSecond, sessionsPerUser } = config
  const calls = createCalls({ ...parts, policy, framesPerSecond, sessionsPerUser })
  const guard = createCallGuard({ calls, access, logger })
  const binding = createBinding({ guard, statusOf: createStatusWriter(), tally: parts.tally })
  const readiness = createReadiness({
    ...parts,
    isStoreVolatile: config.redisUrl === null,
    isArchiveFailing: parts.archivist.isFailing,
    isHealthy: () => gateway?.isHealthy() ?? true,
    isDraining: () => isDraining,
  })
  const health = createHealth({ readiness, services: [SERVICE], clock })
  const reflection = createReflection(Object.values(files))
  transport.add(files.presence.service(SERVICE), handlersOf(calls, binding))
  transport.add(files.health.service('grpc.health.v1.Health'), health.handlers)
  transport.add(files.reflection.service('grpc.reflection.v1.ServerReflection'), reflection)
  transport.add(files.reflectionAlpha.service('grpc.reflection.v1alpha.ServerReflection'), reflection)
  const orAnyPort = dev && port === DEV_GRPC_PORT
  const listening = await listen({ host, port, reusePort, orAnyPort, take: transport.take })

  return {
    address: `${host.includes(':') ? `[${host}]` : host}:${listening.port}`,
    isPicked: listening.port !== port,
    drain() {
      isDraining = true
      // The other processes on this port take new connections.
      if (reusePort) listening.stop()
      binding.drain()
      health.stop()
    },
    stop() {
      listening.stop()
      return transport.stop()
    },
  }
}

/** Methods that this process does not serve are left to the library, which says so. */
const handlersOf = (calls: Calls, { handlerOf }: Binding): UntypedServiceImplementation =>
  Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, handlerOf(name, call)]))
