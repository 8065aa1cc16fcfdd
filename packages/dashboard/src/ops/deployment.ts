// Sums over all processes of a deployment, shared by tiles, charts and the table.

import type { Process } from './api.ts'

type Countable = {
  [Name in keyof Process]: Process[Name] extends number ? Name : never
}[keyof Process]

export const total = (processes: readonly Process[], what: Countable): number =>
  processes.reduce((sum, one) => sum + one[what], 0)

/** Percentiles cannot be added, so the slowest process is shown. */
export function slowest(processes: readonly Process[]): number | null {
  const known = processes.flatMap(({ propagation_p99_ms: p99 }) => (p99 === null ? [] : [p99]))
  return known.length === 0 ? null : Math.max(...known)
}
