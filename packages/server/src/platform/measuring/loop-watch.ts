// Measures how long the event loop is blocked: a timer that should fire ten times a second reports how late it
// was. A long turn of ours counts as well as a busy machine.
import type { Clock, Timer } from '../clock.ts'

/** Every look wakes an idle server: at 10 ms they were a quarter of all that it used. */
const LOOK_EVERY_MS = 100
/** Without connections no client waits for the loop. */
const LOOK_IDLE_EVERY_MS = 1_000

export function startLoopWatch(
  clock: Clock,
  hasConnections: () => boolean,
  onLate: (lateMs: number) => void,
): Timer {
  let timer: Timer
  function lookLater(): void {
    const waitMs = hasConnections() ? LOOK_EVERY_MS : LOOK_IDLE_EVERY_MS
    const dueMs = clock.elapsed() + waitMs
    timer = clock.after(waitMs, () => {
      onLate(Math.max(0, clock.elapsed() - dueMs))
      lookLater()
    })
  }
  lookLater()
  return { stop: () => timer.stop() }
}
