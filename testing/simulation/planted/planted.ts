// All bugs that are planted, and how each is caught: seeds are run until one fails.
import { planOf } from '../run/plan.ts'
import { runPlan } from '../run/run-plan.ts'
import { IN_ARCHIVE, IN_PARTS } from './in-parts.ts'
import { IN_MESSAGES, IN_STORE } from './in-ports.ts'
import { IN_SCRIPTS } from './in-scripts.ts'
import type { Planted } from './planting.ts'

export const PLANTED: readonly Planted[] = [
  ...IN_SCRIPTS,
  ...IN_STORE,
  ...IN_MESSAGES,
  ...IN_ARCHIVE,
  ...IN_PARTS,
]

export interface Catch {
  check: string
  /** How many seeds were run until then. */
  seeds: number
}

/** Null when no seed caught it. */
export function catchPlanted({ plant }: Planted, from: number, seedsMax: number): Catch | null {
  for (let seed = from; seed < from + seedsMax; seed++) {
    const [first] = runPlan({ plan: planOf(seed), plant }).violations
    // What fails without the bug is no catch.
    const isCaught = first !== undefined && runPlan({ plan: planOf(seed) }).violations.length === 0
    if (isCaught) return { check: first.check, seeds: seed - from + 1 }
  }
  return null
}
