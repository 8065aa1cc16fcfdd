// Bounds on waiting: nothing that tests wait for may take forever, and a wait that fails says what it was
// for. The bounds end tests that hang; they are generous because the machine may be busy.

/** For anything that a test waits for and that needs no more time of its own. */
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

/** Asks again and again until it is true: for what services tell only when they are asked. */
export async function until(msMax: number, what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + msMax
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error(`${what} took more than ${msMax / 1000} s`)
    await Bun.sleep(POLL_MS)
  }
}
