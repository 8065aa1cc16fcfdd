// Time for the benchmark. `now` has the same origin in every process of one machine, to a few
// microseconds, so that one process can time what another one caused. Every wait has a bound.

/** Unix milliseconds with a fraction. Grows steadily: the wall clock is read once, when the process starts. */
export const now = (): number => performance.timeOrigin + performance.now()

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))

export const sleepUntil = (at: number): Promise<void> => sleep(at - now())

/** The result, or an error that says what did not happen in time. */
export async function within<T>(limitMs: number, what: string, result: Promise<T>): Promise<T> {
  let timer: Timer | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs / 1000} s`)), limitMs)
  })
  try {
    return await Promise.race([result, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
