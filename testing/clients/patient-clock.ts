// A clock for a server that runs in the process of its test. It follows real time, but a pause of the whole
// process counts as a few milliseconds only: clients in that process cannot send heartbeats in such a pause,
// and no session may seem silent because the machine was busy. It is never ahead of real time.
import { type Clock, systemClock, type Timer } from '../../packages/server/src/platform/clock.ts'

const TICK_MS = 5
/** A longer pause counts as this much. */
const PAUSE_MS_MAX = 50

interface Pending {
  at: number
  run: () => void
}

export function createPatientClock(): Clock {
  const startedAt = Date.now()
  const pending = new Set<Pending>()
  let elapsedMs = 0
  let lookedAt = performance.now()

  function elapsed(): number {
    const now = performance.now()
    elapsedMs += Math.min(now - lookedAt, PAUSE_MS_MAX)
    lookedAt = now
    return elapsedMs
  }

  function after(delayMs: number, run: () => void): Timer {
    const timer = { at: elapsed() + delayMs, run }
    pending.add(timer)
    return { stop: () => void pending.delete(timer) }
  }

  function every(intervalMs: number, run: () => void): Timer {
    let timer = after(intervalMs, beat)
    function beat(): void {
      timer = after(intervalMs, beat)
      run()
    }
    return { stop: () => timer.stop() }
  }

  function tick(): void {
    const now = elapsed()
    const due = [...pending].filter(({ at }) => at <= now).sort((one, other) => one.at - other.at)
    // One that runs may stop another.
    for (const timer of due) if (pending.delete(timer)) timer.run()
  }
  setInterval(tick, TICK_MS).unref()

  return {
    ...systemClock,
    now: () => Math.floor(startedAt + elapsed()),
    elapsed,
    after,
    every,
    sleep: (delayMs) => new Promise((resolve) => void after(delayMs, resolve)),
  }
}
