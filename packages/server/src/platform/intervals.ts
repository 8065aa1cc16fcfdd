// The repeating timers of a process, driven by one timer on one grid: those of equal length, or of a multiple of it, run in
// the same turn. An idle process has two dozen of them. Each with a timer of its own woke it thirty times a second, and a
// wake-up costs more than what most of them then do.

export interface Timer {
  stop(): void
}

/** Due so soon that another wake-up is not worth it. */
const TOGETHER_MS = 1

interface Interval {
  everyMs: number
  dueMs: number
  run(): void
}

/** The first run is at the next multiple of `intervalMs` in monotonic time, so after at most that time. */
export function createIntervals(clock: {
  elapsed(): number
  after(delayMs: number, run: () => void): Timer
}): (intervalMs: number, run: () => void) => Timer {
  const intervals = new Set<Interval>()
  let timer: Timer | null = null
  let wakeMs = Number.POSITIVE_INFINITY

  const nextOf = (everyMs: number, afterMs: number) => (Math.floor(afterMs / everyMs) + 1) * everyMs

  function plan(): void {
    let nextMs = Number.POSITIVE_INFINITY
    for (const { dueMs } of intervals) nextMs = Math.min(nextMs, dueMs)
    if (nextMs === wakeMs) return
    timer?.stop()
    wakeMs = nextMs
    timer = intervals.size === 0 ? null : clock.after(Math.max(0, nextMs - clock.elapsed()), wake)
  }

  function wake(): void {
    const untilMs = clock.elapsed() + TOGETHER_MS
    wakeMs = Number.POSITIVE_INFINITY
    for (const interval of intervals) {
      if (interval.dueMs > untilMs) continue
      // Runs that were missed are left out.
      interval.dueMs = nextOf(interval.everyMs, untilMs)
      // Each on its own, so that one that throws does not keep the others from running.
      queueMicrotask(() => {
        if (intervals.has(interval)) interval.run()
      })
    }
    plan()
  }

  return (intervalMs, run) => {
    const everyMs = Math.max(1, intervalMs)
    const interval = { everyMs, dueMs: nextOf(everyMs, clock.elapsed()), run }
    intervals.add(interval)
    plan()
    return {
      stop() {
        if (intervals.delete(interval)) plan()
      },
    }
  }
}
