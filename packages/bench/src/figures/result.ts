// The result of a scenario as data: the JSON file is exactly this, and the report is made from it.
import { existsSync, readFileSync } from 'node:fs'
import { cpus, platform, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { VERSION } from '../../../server/src/platform/version.ts'
import { commitOf } from '../platform/commit.ts'
import type { CurvePoint } from './histogram.ts'

export interface Figure {
  /** Stable, for programs. */
  name: string
  /** Shown in reports. */
  label: string
  value: number
  unit: string
}

export interface Curve {
  label: string
  count: number
  points: CurvePoint[]
}

/** Values over time; null where there was nothing to measure. */
export interface Series {
  label: string
  unit: string
  chart: 'rates' | 'latency' | 'cpu' | 'memory' | 'connections'
  values: (number | null)[]
}

export interface Outcome {
  figures: Figure[]
  curves: Curve[]
  /** Seconds since the first sample, and as many values in each series. */
  timeS: number[]
  series: Series[]
  /** Faults found. An empty list is a good run. */
  problems: string[]
  /** How to read the figures. */
  notes: string[]
  /** Constants for the capacity model, by their names in the model. */
  constants?: Record<string, { value: number; unit: string }>
  /** Shown instead of the figures: a table in Markdown. */
  table?: string
}

export interface Machine {
  cpu: string
  cores: number
  memoryBytes: number
  system: string
}

export interface Result extends Outcome {
  scenario: string
  subject: string
  date: string
  command: string
  machine: Machine
  versions: Record<string, string>
  settings: Record<string, unknown>
  constants: Record<string, { value: number; unit: string }>
  /** What other programs used of the machine during the run, in percent of a core; null where it is not known. */
  othersPercent: number | null
}

export const noOutcome = (): Outcome => ({
  figures: [],
  curves: [],
  timeS: [],
  series: [],
  problems: [],
  notes: [],
})

export const machine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryBytes: totalmem(),
  system: `${platform()} ${release()}`,
})

/** By the package that the program is in. */
function packageVersionOf(program: string): string {
  for (let folder = dirname(program); ; folder = dirname(folder)) {
    const description = join(folder, 'package.json')
    if (existsSync(description)) return JSON.parse(readFileSync(description, 'utf8')).version ?? 'unknown'
    if (folder === dirname(folder)) return 'unknown'
  }
}

/** `program` is a script of the server that was measured; without it that of this checkout. */
export const versions = (program: string | null = null): Record<string, string> => {
  const commit = commitOf(program ?? import.meta.path)
  return {
    greendot: program === null ? VERSION : packageVersionOf(program),
    bun: Bun.version,
    ...(commit === null ? {} : { commit }),
  }
}

/** A figure as text, with few digits where it is large. */
export function words({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  const number = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return unit === '' ? number : `${number} ${unit}`
}
