// A scene for tests of the client against real servers: what is started in a test ends with it.
import { afterEach } from 'bun:test'
import { connect } from '../packages/client/src/index.ts'
import type { ConnectOptions, Dot } from '../packages/client/src/types.ts'
import { keepDiary } from '../packages/client/testing/until.ts'
import { connect as connectBare, type TestClient } from './client.ts'
import { type SettingsInput, startServer, type TestServer } from './server.ts'

/** A test that stops one of these sooner takes it out; one that starts one by other means puts it in. */
export const servers: TestServer[] = []
export const others: TestClient[] = []
const dots: Dot[] = []

/** To be called once by a test file that plays scenes. */
export function endScenesAfterEach(): void {
  afterEach(async () => {
    for (const dot of dots.splice(0)) dot.close()
    for (const other of others.splice(0)) other.close()
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })
}

export async function serve(settings: SettingsInput = {}): Promise<TestServer> {
  const server = await startServer(settings)
  servers.push(server)
  return server
}

/** Another user, without the client kit. */
export async function arrive(server: { url: string }, name: string): Promise<TestClient> {
  const other = await connectBare(server.url, name, { deviceId: `${name}-1`, platform: 'mobile' })
  others.push(other)
  return other
}

/** Closes the dot with the scene, and keeps what it tells. */
export function watchOver(dot: Dot) {
  dots.push(dot)
  return { dot, diary: keepDiary(dot) }
}

/** Alice at her laptop, by WebSocket. */
export function open(server: { url: string }, options: Partial<ConnectOptions> = {}) {
  const { url } = server
  return watchOver(
    connect({ url, token: 'dev:alice', deviceId: 'laptop', transport: 'websocket', ...options }),
  )
}
