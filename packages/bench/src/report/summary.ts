// A result in a few lines, for the terminal.
import { type Result, words } from '../figures/result.ts'

export function summary({ scenario, subject, figures, problems, notes, table }: Result): string {
  const width = Math.max(...figures.map(({ label }) => label.length))
  return [
    table === undefined ? `${scenario} (${subject})` : `${scenario}\n\n${table}\n`,
    ...(table === undefined
      ? figures.map((figure) => `  ${figure.label.padEnd(width)}  ${words(figure)}`)
      : []),
    ...notes.map((note) => `  (${note})`),
    ...(problems.length === 0 ? ['  no errors'] : problems.map((problem) => `  FAULT: ${problem}`)),
  ].join('\n')
}
