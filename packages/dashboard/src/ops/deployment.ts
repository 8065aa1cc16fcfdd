// All processes of a deployment taken together: what tiles, charts and the table add up in the same way. The
// process that answers knows of the others what they tell each other, and of itself a little more.
import type { Process } from './api.ts'

type Countable = {
  [Name in keyof Process]: Process[Name] extends number ? Name : never
}[keyof Process]

export const total = (processes: readonly Process[], what: Countable): number =>
  processes.reduce((sum, one) => sum + one[what], 0)

/** Percentiles do not add up, so the slowest speaks for all. */
export function slowest(processes: readonly Process[]): number | null {
  const known = processes.flatMap(({ propagation_p99_ms: p99 }) => (p99 === null ? [] : [p99]))
  return known.length === 0 ? null : Math.max(...known)
}
