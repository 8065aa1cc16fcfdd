// Gives memory back after a crowd came or went. Connecting leaves garbage behind, and a server that is
// calm afterwards allocates so little that the collector would not look for minutes. Collecting runs
// beside the event loop, and only when nobody is coming or going.
import type { Clock, Timer } from './clock.ts'

const LOOK_EVERY_MS = 5_000
/** So many comings and goings are worth a collection. */
const CROWD = 1_000
/** What the first collection leaves in half-empty blocks, the second gives back. */
const ROUNDS = 2
/** Below this many in one look, things are calm. */
const CALM = 50

/** `moves` counts everybody who came or went since the start. */
export function startHousekeeping(clock: Clock, moves: () => number): Timer {
  let collectedAt = moves()
  let seen = collectedAt
  let rounds = 0
  return clock.every(LOOK_EVERY_MS, () => {
    const total = moves()
    const isCalm = total - seen < CALM
    seen = total
    if (total - collectedAt >= CROWD) {
      collectedAt = total
      rounds = ROUNDS
    }
    if (!isCalm || rounds === 0) return
    rounds--
    Bun.gc(false)
  })
}
