// A Clock that stands still until a test moves it. `advance` runs what falls due in order, all of an
// instant in one turn of the loop, and lets every promise that a callback released run on before the
// next one, as a real event loop would. Whatever a callback throws, `advance` throws.
import type { Clock, Timer } from '../../packages/server/src/platform/clock.ts'

export interface FakeClock extends Clock {
  /** Moves time forward by `ms`; zero runs what is due now, `soon` included. */
  advance(ms: number): Promise<void>
  /** Timers that are still set, for tests that check nothing was left behind. */
  timerCount(): number
}

/** As many as the body of a request takes to be read. */
const TURNS = 2
/** A chain of timers that never lets time move on is a bug in the code under test. */
const CALLBACKS_PER_ADVANCE_MAX = 1_000_000

interface Pending {
  at: number
  run: () => void
  isStopped: boolean
}

export function createFakeClock(startAt: number): FakeClock {
  let now = startAt
  let advancing = false
  /** Sorted by instant; those of one instant in the order they were set. */
  const timers: Pending[] = []
  const soonQueue: (() => void)[] = []

  function add(delayMs: number, run: () => void): Pending {
    if (Number.isNaN(delayMs)) throw new Error('a delay must be a number')
    const pending = { at: now + Math.max(0, delayMs), run, isStopped: false }
    let low = 0
    let high = timers.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (timers[middle]!.at <= pending.at) low = middle + 1
      else high = middle
    }
    timers.splice(low, 0, pending)
    return pending
  }

  function remove(pending: Pending): void {
    pending.isStopped = true
    const index = timers.indexOf(pending)
    if (index >= 0) timers.splice(index, 1)
  }

  function after(delayMs: number, run: () => void): Timer {
    const pending = add(delayMs, run)
    return { stop: () => remove(pending) }
  }

  function every(intervalMs: number, run: () => void): Timer {
    // As with the real one, an interval is at least a millisecond: zero would hold time still.
    const periodMs = Math.max(1, intervalMs)
    let pending = add(periodMs, beat)
    function beat(): void {
      // Set before it runs, so that a beat which throws or stops itself finds things in order.
      pending = add(periodMs, beat)
      run()
    }
    return { stop: () => remove(pending) }
  }

  /** In one turn of the loop, as the real one does with all that is due: promises go on in between, I/O does not. */
  async function runTogether(callbacks: readonly (() => void)[]): Promise<void> {
    const failures: unknown[] = []
    for (const run of callbacks) {
      setImmediate(() => {
        try {
          run()
        } catch (error) {
          failures.push(error)
        }
      })
    }
    await settle()
    if (failures.length > 0) throw failures[0]
  }

  /** What is to be run next, with the time moved to its instant: all that is to run soon, or what is due then. */
  function takeNext(until: number): (() => void)[] {
    if (soonQueue.length > 0) return soonQueue.splice(0)
    const at = timers[0]?.at ?? Number.POSITIVE_INFINITY
    if (at > until) return []
    now = at
    const later = timers.findIndex((timer) => timer.at > at)
    const due = timers.splice(0, later === -1 ? timers.length : later)
    return due.map((timer) => () => {
      if (!timer.isStopped) timer.run()
    })
  }

  async function advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`time moves forward only, not by ${ms}`)
    if (advancing) throw new Error('advance is already running: await it, and do not call it from a timer')
    advancing = true
    try {
      const until = now + ms
      await settle()
      for (let count = 0; ; count++) {
        if (count >= CALLBACKS_PER_ADVANCE_MAX) throw new Error(`callbacks without end at ${now}`)
        const callbacks = takeNext(until)
        if (callbacks.length === 0) break
        await runTogether(callbacks)
      }
      now = until
    } finally {
      advancing = false
    }
  }

  return {
    now: () => now,
    elapsed: () => now - startAt,
    after,
    every,
    soon: (run) => void soonQueue.push(run),
    nextTurn: () => new Promise((resolve) => void soonQueue.push(resolve)),
    sleep: (delayMs) => new Promise((resolve) => void add(delayMs, resolve)),
    advance,
    timerCount: () => timers.length,
  }
}

/** Lets everything go on that needs no time, until this is done. */
export async function untilDone<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const finish = () => {
    isDone = true
  }
  work.then(finish, finish)
  while (!isDone) await clock.advance(0)
  return work
}

/** A few real turns of the event loop: every promise chain that can go on without time has gone on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
}
