// Timeouts for tests. A wait that fails names what it waited for. The timeouts end tests that hang; they are long
// because the machine may be busy.

/** The usual timeout. */
export const WAIT_MS = 30_000

const POLL_MS = 20

/** Rejects when it takes longer; the timer does not keep the process alive. */
export async function within<Value>(msMax: number, what: string, value: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${what} took more than ${msMax / 1000} s`)), msMax)
  timer.unref()
  try {
    return await Promise.race([value, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Polls until it is true. */
export async function until(msMax: number, what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + msMax
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error(`${what} took more than ${msMax / 1000} s`)
    await Bun.sleep(POLL_MS)
  }
}
