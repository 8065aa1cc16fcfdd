// Sums over all processes of a deployment, and the window of its percentiles, shared by tiles, charts and the
// table.

import { durationWords } from '../words.ts'
import type { Process, Stats } from './api.ts'

type Countable = {
  [Name in keyof Process]: Process[Name] extends number ? Name : never
}[keyof Process]

export const total = (processes: readonly Process[], what: Countable): number =>
  processes.reduce((sum, one) => sum + one[what], 0)

type Percentile = 'p50' | 'p90' | 'p99'

/** Percentiles cannot be added, so the slowest process is shown. */
export function slowest(processes: readonly Process[], which: Percentile): number | null {
  // A process of an older version may not have all of them.
  const known = processes.flatMap((one) => one[`propagation_${which}_ms`] ?? [])
  return known.length === 0 ? null : Math.max(...known)
}

/** The percentiles are of this time only, such as "the last 5 min". */
export const windowWords = ({ propagation_ms: { window_ms: ms } }: Stats): string =>
  `the last ${durationWords(ms).replaceAll(' ', '\u00a0')}`
