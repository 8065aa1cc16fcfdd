// The library's server: it is handed connections, not a port. Limits of the transport are set here, and the end of its
// connections.
import type { Socket } from 'node:net'
import { BODY_BYTES_MAX } from '@greendot/protocol'
import {
  Server,
  ServerCredentials,
  type ServerOptions,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Clock } from '../platform/clock.ts'

/** A backend may carry the streams of many users over one connection. */
const STREAMS_PER_CONNECTION_MAX = 1_000
/** A peer that does not answer a ping is dead, and its calls end. */
const PING_EVERY_MS = 20_000
const PING_TIMEOUT_MS = 10_000
const IDLE_CONNECTION_MS = 10 * 60_000
/** For the last bytes of calls that have ended. */
const CLOSE_MS_MAX = 1_000

const OPTIONS: ServerOptions = {
  'grpc.max_receive_message_length': BODY_BYTES_MAX,
  'grpc.max_concurrent_streams': STREAMS_PER_CONNECTION_MAX,
  'grpc.keepalive_time_ms': PING_EVERY_MS,
  'grpc.keepalive_timeout_ms': PING_TIMEOUT_MS,
  'grpc.max_connection_idle_ms': IDLE_CONNECTION_MS,
}

export interface Transport {
  add(service: ServiceDefinition, handlers: UntypedServiceImplementation): void
  /** Serves a connection. */
  take(socket: Socket): void
  /** Tells clients to go, and closes what is still open after a moment. */
  stop(): Promise<void>
}

export function createTransport(clock: Pick<Clock, 'after'>): Transport {
  const server = new Server(OPTIONS)
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure())
  const sockets = new Set<Socket>()
  let onEmpty = () => {}

  return {
    add: (service, handlers) => server.addService(service, handlers),
    take(socket) {
      sockets.add(socket)
      // A connection that breaks is no error of this server; its calls are cancelled.
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        if (sockets.size === 0) onEmpty()
      })
      injector.injectConnection(socket)
    },
    async stop() {
      if (sockets.size > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        onEmpty = resolve
        const timer = clock.after(CLOSE_MS_MAX, resolve)
        injector.drain(CLOSE_MS_MAX)
        await promise
        timer.stop()
      }
      server.forceShutdown()
    },
  }
}
