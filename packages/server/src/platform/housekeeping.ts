// Gives memory back after a crowd came or went. The collector moves nothing: what stays is scattered among
// the garbage of those who came with it, and keeps whole blocks alive. So while a crowd comes, its young
// garbage is collected often, and its place is used again at once; and when it is calm afterwards, all of it,
// because a calm server allocates so little that the collector would not look for minutes.
import { edenGC } from 'bun:jsc'
import type { Clock, Timer } from './clock.ts'

const LOOK_EVERY_MS = 100
/** So many comings and goings leave a few megabytes of young garbage: some milliseconds to collect. */
const YOUNG_MOVES = 500
/** So many are worth a whole collection. */
const CROWD_MOVES = 1_000
/** What the first whole collection leaves in half-empty blocks, the second gives back. */
const ROUNDS = 2
const CALM_LOOKS = 50
/** Below this many in that time, things are calm. */
const CALM_MOVES = 50

/** The collector, so that tests can count what it is asked for. */
export interface Collector {
  young(): void
  /** Beside the event loop. */
  whole(): void
}

const runtimeCollector: Collector = { young: edenGC, whole: () => Bun.gc(false) }

/** `moves` counts everybody who came or went since the start. */
export function startHousekeeping(
  clock: Clock,
  moves: () => number,
  collector: Collector = runtimeCollector,
): Timer {
  let wholeAt = moves()
  let youngAt = wholeAt
  let calmSince = wholeAt
  let looks = 0
  let rounds = 0

  function lookForCalm(total: number): void {
    const isCalm = total - calmSince < CALM_MOVES
    calmSince = total
    if (total - wholeAt >= CROWD_MOVES) {
      wholeAt = total
      rounds = ROUNDS
    }
    if (!isCalm || rounds === 0) return
    rounds--
    collector.whole()
  }

  return clock.every(LOOK_EVERY_MS, () => {
    const total = moves()
    if (total - youngAt >= YOUNG_MOVES) {
      youngAt = total
      collector.young()
    }
    if (++looks % CALM_LOOKS === 0) lookForCalm(total)
  })
}
