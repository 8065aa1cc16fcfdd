// Timeouts for tests. A wait that fails names what it waited for. The timeouts end tests that hang; they are long
// because the machine may be busy.
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { within as withinLimit } from '../../packages/server/src/platform/within.ts'

/** The usual timeout. */
export const WAIT_MS = 30_000

const POLL_MS = 20

/** Rejects when it takes longer. */
export function within<Value>(msMax: number, what: string, value: Promise<Value>): Promise<Value> {
  return withinLimit(systemClock, msMax, value, () => {
    throw new Error(`${what} took more than ${msMax / 1000} s`)
  })
}

/** Polls until it is true. */
export async function until(msMax: number, what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + msMax
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error(`${what} took more than ${msMax / 1000} s`)
    await Bun.sleep(POLL_MS)
  }
}
