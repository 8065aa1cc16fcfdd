// The listening socket of gRPC. It is a plain one whose connections are handed to the library, because only so can
// several processes of one deployment share the port.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

export interface Listening {
  port: number
  /** Takes no more connections; those that are open stay. */
  stop(): void
}

export interface ListenOptions {
  host: string
  port: number
  reusePort: boolean
  /** Where the port is taken, a free one will do. */
  orAnyPort: boolean
  take(socket: Socket): void
}

export async function listen({ host, port, reusePort, orAnyPort, take }: ListenOptions): Promise<Listening> {
  const server = createServer(take)
  try {
    await opened(server, { host, port, reusePort })
  } catch (error) {
    if (!isTaken(error)) throw error
    if (orAnyPort) return listen({ host, port: 0, reusePort, orAnyPort: false, take })
    throw new Error(
      `port ${port} on ${host} is taken; stop what uses it, or choose another with --grpc-port, or --grpc-port off`,
    )
  }
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() }
}

function opened(server: Server, where: { host: string; port: number; reusePort: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
