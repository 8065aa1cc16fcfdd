// The only place that reads the time or sets a timer. Everything else is handed a Clock, so that
// tests can hold time still and move it by hand.

export interface Timer {
  stop(): void
}

export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Milliseconds that only grow, for measuring; unrelated to `now`. */
  elapsed(): number
  after(delayMs: number, run: () => void): Timer
  every(intervalMs: number, run: () => void): Timer
  /** Runs after the present turn of the event loop, once waiting I/O had its chance. */
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
