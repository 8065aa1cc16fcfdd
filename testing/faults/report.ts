// The summary of a run as a table, one fault a line.
import type { Outcome } from './fixture.ts'

export interface Line {
  number: number
  name: string
  tookMs: number
  outcome: Outcome
}

const seconds = (ms: number | null): string => {
  if (ms === null) return '-'
  return Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'never'
}
const among = (value: string, bound: string): string => (bound === '-' ? value : `${value} / ${bound}`)
const count = (value: number | null): string => (value === null ? '-' : String(value))

const COLUMNS: [string, (line: Line) => string][] = [
  ['#', ({ number }) => String(number)],
  ['fault', ({ name }) => name],
  ['users', ({ outcome }) => String(outcome.userCount)],
  ['false', ({ outcome }) => count(outcome.falseTransitions)],
  ['ghost / bound', ({ outcome }) => among(seconds(outcome.worstGhostMs), seconds(outcome.ghostMsMax))],
  ['heal / bound', ({ outcome }) => among(seconds(outcome.healMs), seconds(outcome.healMsMax))],
  ['disagree', ({ outcome }) => count(outcome.disagreements)],
  ['took', ({ tookMs }) => `${Math.round(tookMs / 1000)} s`],
  ['', ({ outcome }) => (outcome.problems.length === 0 ? 'ok' : 'FAILED')],
]

export function toTable(lines: readonly Line[]): string {
  const rows = [COLUMNS.map(([title]) => title), ...lines.map((line) => COLUMNS.map(([, of]) => of(line)))]
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const toText = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd()
  const [head, ...body] = rows.map(toText)
  return [
    head,
    widths
      .map((width) => '-'.repeat(width))
      .join('  ')
      .trimEnd(),
    ...body,
  ].join('\n')
}
