// Tests that need a service. Where the service is missing, each test is skipped with the reason in its title; with
// CI=true they fail instead, unless the service is optional.
import { afterAll, beforeAll, describe, test } from 'bun:test'
import { type Found, isCI } from './found.ts'

interface Service {
  stop(): Promise<void>
}

const START_MS_MAX = 60_000

/** Starts the service before the tests of `body` and stops it after them; `body` gets a function that returns it. */
export function describeWithService<S extends Service>(
  title: string,
  found: Found,
  start: () => Promise<S>,
  body: (service: () => S) => void,
): void {
  let service: S | null = null
  const running = (): S => {
    if (service === null) throw new Error('the service runs only while the tests do')
    return service
  }
  if (found.state === 'found') {
    describe(title, () => {
      beforeAll(async () => {
        service = await start()
      }, START_MS_MAX)
      afterAll(async () => {
        await service?.stop()
        service = null
      })
      body(running)
    })
  } else if (isCI() && !found.isOptional) {
    describe(title, () => {
      test('has the service that it needs', () => {
        throw new Error(found.why)
      })
    })
  } else {
    describe.skip(`${title} (${found.why})`, () => body(running))
  }
}
