// Time for the benchmark. `now` has the same origin in every process of one machine, to a few
// microseconds, so that one process can time what another one caused. Every wait has a bound.
import { systemClock } from '../../../server/src/platform/clock.ts'
import { within as withinLimit } from '../../../server/src/platform/within.ts'

/** Unix milliseconds with a fraction. Grows steadily: the wall clock is read once, when the process starts. */
export const now = (): number => performance.timeOrigin + performance.now()

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))

export const sleepUntil = (at: number): Promise<void> => sleep(at - now())

/** The result, or an error that says what did not happen in time. */
export function within<T>(limitMs: number, what: string, result: Promise<T>): Promise<T> {
  return withinLimit(systemClock, limitMs, result, () => {
    throw new Error(`${what} took longer than ${limitMs / 1000} s`)
  })
}
