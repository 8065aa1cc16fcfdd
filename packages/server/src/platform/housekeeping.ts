// Returns memory after many connections came or went. The garbage collector does not move objects: live ones
// stay scattered among dead ones and keep whole blocks alive. So while many connections come, young garbage
// is collected often and its space reused; once it is calm, everything is collected, because a calm server
// allocates so little that the collector would not run for minutes.
import { edenGC } from 'bun:jsc'
import type { Clock, Timer } from './clock.ts'

const CHECK_EVERY_MS = 500
/** So many opened and closed connections leave some megabytes of young garbage: milliseconds to collect. */
const YOUNG_MOVES = 2_000
/** So many are worth a full collection. */
const FULL_MOVES = 1_000
/** The second full collection returns blocks that the first left half empty. */
const ROUNDS = 2
const CALM_CHECKS = 10
/** Fewer than this in that time count as calm. */
const CALM_MOVES = 50

/** The garbage collector, as a port so that tests can count its calls. */
export interface Collector {
  young(): void
  /** Does not block the event loop. */
  whole(): void
}

const runtimeCollector: Collector = { young: edenGC, whole: () => Bun.gc(false) }

/** `moves` counts connections opened and closed since the start. */
export function startHousekeeping(
  clock: Clock,
  moves: () => number,
  collector: Collector = runtimeCollector,
): Timer {
  let wholeAt = moves()
  let youngAt = wholeAt
  let calmSince = wholeAt
  let checks = 0
  let rounds = 0

  function checkForCalm(total: number): void {
    const isCalm = total - calmSince < CALM_MOVES
    calmSince = total
    if (total - wholeAt >= FULL_MOVES) {
      wholeAt = total
      rounds = ROUNDS
    }
    if (!isCalm || rounds === 0) return
    rounds--
    collector.whole()
  }

  return clock.every(CHECK_EVERY_MS, () => {
    const total = moves()
    if (total - youngAt >= YOUNG_MOVES) {
      youngAt = total
      collector.young()
    }
    if (++checks % CALM_CHECKS === 0) checkForCalm(total)
  })
}
