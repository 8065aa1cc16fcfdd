// Measures how long the event loop is blocked: a timer that should fire ten times a second reports how late it
// was. A long turn of ours counts as well as a busy machine.
import type { Clock, Timer } from '../clock.ts'

/** Every look wakes an idle server: at 10 ms they were a quarter of all that it used. */
const LOOK_EVERY_MS = 100

export function startLoopWatch(clock: Clock, onLate: (lateMs: number) => void): Timer {
  let lookedAt = clock.elapsed()
  return clock.every(LOOK_EVERY_MS, () => {
    const now = clock.elapsed()
    onLate(Math.max(0, now - lookedAt - LOOK_EVERY_MS))
    lookedAt = now
  })
}
