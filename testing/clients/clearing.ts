// Clears away after each test what the test has started, in reverse order, also when the test failed.
import { afterEach } from 'bun:test'
import { type SettingsInput, startServer, type TestServer } from './server.ts'

export type OnEnd = (clear: () => unknown) => void

/** For the tests of the file or the `describe` it is called in. */
export function clearAfterEach(): OnEnd {
  const clearing: (() => unknown)[] = []
  afterEach(async () => {
    for (let clear = clearing.pop(); clear !== undefined; clear = clearing.pop()) await clear()
  })
  return (clear) => void clearing.push(clear)
}

/** Servers that are stopped after each test. */
export function useServers() {
  const onEnd = clearAfterEach()
  async function serve(settings?: SettingsInput): Promise<TestServer> {
    const server = await startServer(settings)
    onEnd(server.stop)
    return server
  }
  return { serve, onEnd }
}
