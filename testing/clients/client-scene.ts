// Servers, users and dots for tests of the client against real servers. All of them end with the test.
import { afterEach } from 'bun:test'
import { connect } from '../../packages/client/src/index.ts'
import type { ConnectOptions, Dot } from '../../packages/client/src/types.ts'
import { createEventLog } from '../../packages/client/testing/recording.ts'
import type { Clock } from '../../packages/server/src/platform/clock.ts'
import { connect as connectBare, type TestClient } from './client.ts'
import { type SettingsInput, startServer, type TestServer } from './server.ts'

/** A test that stops one of these itself removes it, and one that starts another adds it. */
export const servers: TestServer[] = []
export const others: TestClient[] = []
const dots: Dot[] = []

/** To be called once by a test file. */
export function endScenesAfterEach(): void {
  afterEach(async () => {
    for (const dot of dots.splice(0)) dot.close()
    for (const other of others.splice(0)) other.close()
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })
}

export async function serve(settings: SettingsInput = {}, clock?: Clock): Promise<TestServer> {
  const server = await startServer(settings, { clock })
  servers.push(server)
  return server
}

/** Another user, connected without the client kit. */
export async function arrive(server: { url: string }, name: string): Promise<TestClient> {
  const other = await connectBare(server.url, name, { deviceId: `${name}-1`, platform: 'mobile' })
  others.push(other)
  return other
}

/** Closes the dot after the test, and records its events. */
export function withEventLog(dot: Dot) {
  dots.push(dot)
  return { dot, log: createEventLog(dot) }
}

/** A dot of alice, by WebSocket. */
export function open(server: { url: string }, options: Partial<ConnectOptions> = {}) {
  const { url } = server
  return withEventLog(
    connect({ url, token: 'dev:alice', deviceId: 'laptop', transport: 'websocket', ...options }),
  )
}
