// All bugs that are planted, and how each is caught: seeds are run until one fails, and a few more for the other checks
// that notice it.
import type { Violation } from '../../faults/random/checks/violation.ts'
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

export type Check = Violation['check']

export interface Catch {
  /** All that noticed it, in the seed that caught it and in the few behind it. */
  checks: Check[]
  /** How many seeds were run until it was caught. */
  seeds: number
}

/** The checks that fail with the bug in a seed that is kept without it. */
export function checksOf({ plant }: Planted, seed: number): Check[] {
  const checks = new Set(runPlan({ plan: planOf(seed), plant }).violations.map(({ check }) => check))
  if (checks.size > 0 && runPlan({ plan: planOf(seed) }).violations.length > 0) return []
  return [...checks]
}

/** Null when no seed caught it. `more`: seeds to run after that. */
export function catchPlanted(planted: Planted, from: number, seedsMax: number, more = 0): Catch | null {
  for (let seed = from; seed < from + seedsMax; seed++) {
    const checks = new Set(checksOf(planted, seed))
    if (checks.size === 0) continue
    for (let next = seed + 1; next <= seed + more; next++)
      for (const check of checksOf(planted, next)) checks.add(check)
    return { checks: [...checks].sort(), seeds: seed - from + 1 }
  }
  return null
}
