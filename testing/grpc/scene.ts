// A server with gRPC for a test, and clients of it, which end with the test.
import { afterEach } from 'bun:test'
import { type SettingsInput, type StartOptions, startServer, type TestServer } from '../clients/server.ts'
import { CallFailed, connectGrpc, type Ended, type TestClient } from './client.ts'

export interface GrpcScene {
  server(settings?: SettingsInput, options?: StartOptions): Promise<TestServer & { grpc: string }>
  client(address: string, token: string | null): TestClient
}

export function useGrpcScene(): GrpcScene {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  return {
    async server(settings = {}, options = {}) {
      const server = await startServer({ grpc_port: 0, ...settings }, options)
      ends.push(server.stop)
      return { ...server, grpc: server.grpc! }
    },
    client(address, token) {
      const client = connectGrpc(address, token)
      ends.push(client.close)
      return client
    },
  }
}

/** How a call was refused. */
export async function refusalOf(call: Promise<unknown>): Promise<Ended> {
  try {
    await call
  } catch (error) {
    if (error instanceof CallFailed) return error.ended
    throw error
  }
  throw new Error('the call was not refused')
}
