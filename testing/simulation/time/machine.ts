// A process of the simulation: its clock, whether it runs, and what waits for it while it is frozen. All code of the
// process is entered by its timers or by `deliver`, so a process that crashed does nothing more, at whichever await it
// was. Its wall clock may be wrong and be set, its monotonic clock runs a little too fast or too slow.
import type { Clock, Timer } from '../../../packages/server/src/platform/clock.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** A timer is never early, also not by the rounding of a fraction. */
const TIMER_MS_MIN = 0.01

export interface Machine {
  readonly name: string
  readonly clock: Clock
  isAlive(): boolean
  isFrozen(): boolean
  /** Runs something in the process: now, when it is thawed, or never if it crashed. */
  deliver(run: () => void): void
  crash(): void
  freeze(): void
  thaw(): void
  /** Sets the wall clock by so much. */
  step(byMs: number): void
  skewMs(): number
  timers(): number
}

export interface MachineOptions {
  name: string
  timeline: Timeline
  random: Random
  /** How late a timer may be. */
  lateMsMax: number
  /** How far the wall clock is off at the start. */
  skewMs: number
  /** By which part the monotonic clock is too fast. */
  drift: number
}

export function createMachine(options: MachineOptions): Machine {
  const { name, timeline, random, lateMsMax, drift } = options
  const startedAt = timeline.now()
  let { skewMs } = options
  let state: 'running' | 'frozen' | 'crashed' = 'running'
  let waiting: (() => void)[] = []
  let timers = 0

  function deliver(run: () => void): void {
    if (state === 'running') run()
    else if (state === 'frozen') waiting.push(run)
  }

  function after(delayMs: number, run: () => void): Timer {
    const dueAt = timeline.now() + TIMER_MS_MIN + Math.max(0, delayMs) / (1 + drift)
    return start(dueAt + random.fraction() * lateMsMax, run)
  }

  function start(at: number, run: () => void): Timer {
    timers++
    let isOver = false
    const event = timeline.at(at, () =>
      deliver(() => {
        if (isOver) return
        isOver = true
        timers--
        run()
      }),
    )
    return {
      stop() {
        if (isOver) return
        isOver = true
        timers--
        event.stop()
      },
    }
  }

  function every(intervalMs: number, run: () => void): Timer {
    const periodMs = Math.max(1, intervalMs) / (1 + drift)
    let dueAt = timeline.now() + periodMs
    let timer = start(dueAt, beat)
    function beat(): void {
      dueAt = Math.max(dueAt + periodMs, timeline.now())
      timer = start(dueAt + random.fraction() * lateMsMax, beat)
      run()
    }
    return { stop: () => timer.stop() }
  }

  const clock: Clock = {
    now: () => Math.floor(timeline.now() + skewMs),
    elapsed: () => (timeline.now() - startedAt) * (1 + drift),
    after,
    every,
    soon: (run) => void timeline.at(timeline.now(), () => deliver(run)),
    nextTurn: () => new Promise((resolve) => void timeline.at(timeline.now(), () => deliver(resolve))),
    sleep: (delayMs) => new Promise((resolve) => void after(delayMs, resolve)),
  }

  return {
    name,
    clock,
    isAlive: () => state !== 'crashed',
    isFrozen: () => state === 'frozen',
    deliver,
    crash() {
      state = 'crashed'
      waiting = []
    },
    freeze() {
      if (state === 'running') state = 'frozen'
    },
    thaw() {
      if (state !== 'frozen') return
      state = 'running'
      const all = waiting
      waiting = []
      for (const run of all) timeline.at(timeline.now(), () => deliver(run))
    },
    step(byMs) {
      skewMs += byMs
    },
    skewMs: () => skewMs,
    timers: () => timers,
  }
}
