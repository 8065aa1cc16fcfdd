// The one table of a comparison: a row for each server, and one that says how many times better Greendot
// is than the best of the others, column by column. Pure: it is made of numbers that were measured.
import type { Figure } from '../figures/result.ts'
import { alignedTable } from '../report/document.ts'

export interface Figures {
  memoryBytesPerUser: number
  connectsPerSecond: number
  connectsPerCpuSecond: number
  warmConnectsPerSecond: number
  cpuSecondsPer100kDeliveries: number
  sustainedDeliveriesPerSecond: number
  cpuSecondsPer100kAtHalfLoad: number
  p99AtHalfLoadMs: number
  errors: number
}

export type Row =
  | { name: string; title: string; state: 'measured'; figures: Figures }
  | { name: string; title: string; state: 'missing'; why: string }
  | { name: string; title: string; state: 'failed'; why: string }

const ERRORS = 'errors'

interface Column {
  /** Stable, for programs. */
  name: string
  title: string
  unit: string
  digits: number
  of(figures: Figures): number
  better: 'less' | 'more'
}

const COLUMNS: readonly Column[] = [
  {
    name: 'kb_per_user',
    title: 'memory per user',
    unit: 'KB',
    digits: 2,
    of: (figures) => figures.memoryBytesPerUser / 1024,
    better: 'less',
  },
  {
    name: 'connects_per_second',
    title: 'connects a second',
    unit: '',
    digits: 0,
    of: (figures) => figures.connectsPerSecond,
    better: 'more',
  },
  {
    name: 'connects_per_cpu_second',
    title: 'connects per CPU-second',
    unit: '',
    digits: 0,
    of: (figures) => figures.connectsPerCpuSecond,
    better: 'more',
  },
  {
    name: 'warm_connects_per_second',
    title: 'connects a second, warm',
    unit: '',
    digits: 0,
    of: (figures) => figures.warmConnectsPerSecond,
    better: 'more',
  },
  {
    name: 'cpu_s_per_100k_deliveries',
    title: 'CPU-seconds per 100,000 deliveries',
    unit: '',
    digits: 2,
    of: (figures) => figures.cpuSecondsPer100kDeliveries,
    better: 'less',
  },
  {
    name: 'sustained_deliveries_per_second',
    title: 'sustained deliveries a second',
    unit: '',
    digits: 0,
    of: (figures) => figures.sustainedDeliveriesPerSecond,
    better: 'more',
  },
  {
    name: 'half_load_cpu_s_per_100k_deliveries',
    title: 'CPU-seconds per 100,000 at half load',
    unit: '',
    digits: 2,
    of: (figures) => figures.cpuSecondsPer100kAtHalfLoad,
    better: 'less',
  },
  {
    name: 'half_load_p99_ms',
    title: 'p99 at half load',
    unit: 'ms',
    digits: 1,
    of: (figures) => figures.p99AtHalfLoadMs,
    better: 'less',
  },
  { name: ERRORS, title: 'errors', unit: '', digits: 0, of: (figures) => figures.errors, better: 'less' },
]

export function markdownTable(rows: readonly Row[]): string {
  const head = ['', ...COLUMNS.map(({ title }) => title)]
  const body = rows.map((row) => {
    if (row.state !== 'measured') return [row.title, ...COLUMNS.map(() => '')]
    return [row.title, ...COLUMNS.map((column) => shown(column, column.of(row.figures)))]
  })
  const lead = leadOver(rows, 'greendot')
  if (lead !== null) body.push(['Greendot against the best of the others', ...lead])
  const notes = rows.flatMap((row) => {
    if (row.state === 'measured') return []
    return [`${row.title}: ${row.state === 'missing' ? 'not measured' : 'failed'}, ${row.why}`]
  })
  const table = alignedTable([head, ...body])
  return notes.length === 0 ? table : `${table}\n\n${notes.join('\n')}`
}

function shown({ digits, unit }: Column, value: number): string {
  if (!Number.isFinite(value)) return '–'
  const number = value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return unit === '' ? number : `${number} ${unit}`
}

/** For each column how many times better one is than the best other; null when there is nothing to compare. */
export function leadOver(rows: readonly Row[], name: string): string[] | null {
  const measured = rows.filter((row) => row.state === 'measured')
  const own = measured.find((row) => row.name === name)
  const others = measured.filter((row) => row.name !== name)
  if (own === undefined || others.length === 0) return null
  return COLUMNS.map((column) => {
    const value = column.of(own.figures)
    const values = others.map(({ figures }) => column.of(figures)).filter(Number.isFinite)
    const best = column.better === 'less' ? Math.min(...values) : Math.max(...values)
    const times = column.better === 'less' ? best / value : value / best
    if (column.name === ERRORS || !Number.isFinite(times)) return ''
    return `${times.toFixed(times < 1 ? 2 : 1)} ×`
  })
}

/** The same numbers for programs: each named after its server and its column. */
export function figuresOf(rows: readonly Row[]): Figure[] {
  return rows.flatMap((row) => {
    if (row.state !== 'measured') return []
    return COLUMNS.flatMap(({ name, title, unit, of }) => {
      const value = of(row.figures)
      if (!Number.isFinite(value)) return []
      const rounded = Number(value.toPrecision(6))
      return [{ name: `${row.name}_${name}`, label: `${row.title}: ${title}`, value: rounded, unit }]
    })
  })
}
