// Notices when the event loop does not come round: a timer that should fire every few milliseconds says
// how late it was. Whatever holds the loop up counts, a long turn of ours as well as a busy machine.
import type { Clock, Timer } from './clock.ts'

/** Blocks are measured to within this; looking more often would cost an idle server too much. */
const LOOK_EVERY_MS = 10

export function startLoopWatch(clock: Clock, onLate: (lateMs: number) => void): Timer {
  let lookedAt = clock.elapsed()
  return clock.every(LOOK_EVERY_MS, () => {
    const now = clock.elapsed()
    onLate(Math.max(0, now - lookedAt - LOOK_EVERY_MS))
    lookedAt = now
  })
}
