// Tables in a document, between the markers `<!-- table: name -->` and `<!-- /table -->`: a run replaces
// what is between them and nothing else, so no table is typed by hand. Below each is where it comes from.
import { type Result, words } from '../figures/result.ts'

/** The document with the table of this name replaced; null when it has no such markers. */
export function withTable(document: string, name: string, table: string): string | null {
  const begin = `<!-- table: ${name} -->\n`
  const start = document.indexOf(begin)
  const end = document.indexOf('<!-- /table -->', start)
  if (start < 0 || end < 0) return null
  return `${document.slice(0, start + begin.length)}\n${table}\n\n${document.slice(end)}`
}

/** The figures of a result as a table, its faults, and the command, the commit, the day and how busy the machine was. */
export function tableOf(result: Result): string {
  const { figures, problems, table, command, versions, date, othersPercent } = result
  const rows = figures.map((figure) => [figure.label, words(figure)])
  const origin = [
    `\`${command.startsWith('npm ') ? command : `npx ${command}`}\``,
    versions.commit === undefined ? `version ${versions.greendot}` : `commit ${versions.commit}`,
    date.slice(0, 10),
    ...(othersPercent === null ? [] : [`other programs took ${Math.round(othersPercent)} % of a core`]),
  ]
  return [
    table ?? alignedTable([['', ''], ...rows]),
    ...problems.map((problem) => `Fault: ${problem}.`),
    origin.join(', '),
  ].join('\n\n')
}

/** The commands below the tables of a document, each once, with the tables that it fills. */
export function runsOf(document: string): { argv: string[]; tables: string[] }[] {
  const places = /^<!-- table: (\S+) -->\n([\s\S]*?)^<!-- \/table -->$/gm
  const byCommand = new Map<string, string[]>()
  for (const [, name, text] of document.matchAll(places)) {
    const command = /^`npx greendot bench (.+)`,/m.exec(text!)?.[1]
    if (command !== undefined) byCommand.set(command, [...(byCommand.get(command) ?? []), name!])
  }
  return Array.from(byCommand, ([command, tables]) => ({ argv: command.split(' '), tables }))
}

/** Markdown, with the first row as its head. */
export function alignedTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  const [head, ...body] = rows
  return [line(head!), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}
