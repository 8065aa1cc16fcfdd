// How ratios are held against those of before. Pure: readings and the stored ratios in, verdicts out.
// Only ratios within one run count: a slower machine slows both sides, a slower program only one.
import type { Reading } from '../micro/measure.ts'

export interface StoredRatio {
  ratio: number
  /** How far it may fall, as a share of itself, before that is more than noise. */
  tolerance: number
}

export type StoredRatios = Readonly<Record<string, StoredRatio>>

export interface Verdict {
  name: string
  now: number | null
  stored: number | null
  /** Below this it fell. */
  floor: number | null
  /** `unmeasured`: stored once, and nothing measures it any more. */
  result: 'holds' | 'fell' | 'new' | 'unmeasured' | 'skipped'
}

const TOLERANCE_OF_NEW = 0.25

/** `skipped` are names whose measurement cannot run on this machine. */
export function judge(
  readings: readonly Reading[],
  stored: StoredRatios,
  skipped: ReadonlySet<string> = new Set(),
): Verdict[] {
  const now = ratiosOf(readings)
  const names = new Set([...Object.keys(stored), ...now.keys()])
  return Array.from(names, (name): Verdict => {
    const ratio = now.get(name) ?? null
    const before = stored[name]
    if (before === undefined) return { name, now: ratio, stored: null, floor: null, result: 'new' }
    const floor = before.ratio * (1 - before.tolerance)
    const known = { name, now: ratio, stored: before.ratio, floor }
    if (ratio === null) return { ...known, result: skipped.has(name) ? 'skipped' : 'unmeasured' }
    return { ...known, result: ratio < floor ? 'fell' : 'holds' }
  })
}

export const isFailure = ({ result }: Verdict): boolean => result === 'fell' || result === 'unmeasured'

/** The ratios of now, with the tolerances of before. What could not be measured stays as it was. */
export function updated(
  readings: readonly Reading[],
  stored: StoredRatios,
  skipped: ReadonlySet<string> = new Set(),
): StoredRatios {
  const kept = Object.entries(stored).filter(([name]) => skipped.has(name))
  const measured = Array.from(ratiosOf(readings), ([name, ratio]) => {
    const tolerance = stored[name]?.tolerance ?? TOLERANCE_OF_NEW
    return [name, { ratio: Number(ratio.toFixed(3)), tolerance }] as const
  })
  return Object.fromEntries([...measured, ...kept])
}

function ratiosOf(readings: readonly Reading[]): Map<string, number> {
  return new Map(readings.flatMap(({ name, ratio }) => (ratio === null ? [] : [[name, ratio] as const])))
}

/** The better of two readings of each ratio. Other work on the machine only makes a reading worse. */
export function better(first: readonly Reading[], second: readonly Reading[]): Reading[] {
  return first.map((reading) => {
    const again = second.find(({ name }) => name === reading.name)
    return again !== undefined && (again.ratio ?? 0) > (reading.ratio ?? 0) ? again : reading
  })
}
