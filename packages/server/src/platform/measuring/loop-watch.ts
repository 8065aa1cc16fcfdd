// Measures how long the event loop is blocked: a timer that should fire every few milliseconds reports how
// late it was. A long turn of ours counts as well as a busy machine.
import type { Clock, Timer } from '../clock.ts'

/** The precision of the measurement. A shorter interval would cost an idle server too much. */
const LOOK_EVERY_MS = 10

export function startLoopWatch(clock: Clock, onLate: (lateMs: number) => void): Timer {
  let lookedAt = clock.elapsed()
  return clock.every(LOOK_EVERY_MS, () => {
    const now = clock.elapsed()
    onLate(Math.max(0, now - lookedAt - LOOK_EVERY_MS))
    lookedAt = now
  })
}
