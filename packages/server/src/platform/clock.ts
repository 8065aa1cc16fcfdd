// The only place that reads the time or sets a timer. All other code is given a Clock, so that tests can
// stop time and move it by hand.

export interface Timer {
  stop(): void
}

export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Monotonic milliseconds for measuring; unrelated to `now`. */
  elapsed(): number
  after(delayMs: number, run: () => void): Timer
  every(intervalMs: number, run: () => void): Timer
  /** Runs after the present turn of the event loop, after pending I/O. */
  soon(run: () => void): void
  /** Resolves when `soon` would run: long work awaits it, so that other work gets its turn in between. */
  nextTurn(): Promise<void>
  sleep(delayMs: number): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return { stop: () => clearTimeout(timer) }
  },
  every(intervalMs, run) {
    const timer = setInterval(run, intervalMs)
    return { stop: () => clearInterval(timer) }
  },
  soon: (run) => void setImmediate(run),
  nextTurn: () => new Promise((resolve) => void setImmediate(resolve)),
  sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
}
