// The only place that reads the time or sets a timer. All other code is given a Clock, so that tests can
// stop time and move it by hand.
import { createIntervals, type Timer } from './intervals.ts'

export type { Timer }

export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Monotonic milliseconds for measuring; unrelated to `now`. */
  elapsed(): number
  after(delayMs: number, run: () => void): Timer
  /** The first run may come sooner than after `intervalMs`. */
  every(intervalMs: number, run: () => void): Timer
  /** Runs after the present turn of the event loop, after pending I/O. */
  soon(run: () => void): void
  /** Resolves when `soon` would run: long work awaits it, so that other work gets its turn in between. */
  nextTurn(): Promise<void>
  sleep(delayMs: number): Promise<void>
}

const elapsed = (): number => performance.now()

function after(delayMs: number, run: () => void): Timer {
  const timer = setTimeout(run, delayMs)
  return { stop: () => clearTimeout(timer) }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed,
  after,
  every: createIntervals({ elapsed, after }),
  soon: (run) => void setImmediate(run),
  nextTurn: () => new Promise((resolve) => void setImmediate(resolve)),
  sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
}
