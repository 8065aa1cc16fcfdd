// Writes results: a JSON file for each scenario and one page for all of them. A path that ends in .json
// is the file itself, for a run of one scenario; the page lies beside it. A path that ends in .md is a document
// whose tables are filled in.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Result } from '../figures/result.ts'
import { tableOf, withTable } from './document.ts'

export const isDocument = (path: string): boolean => path.endsWith('.md')

/** What was measured does not depend on where it is written. */
export const withoutOutput = (argv: readonly string[]): string[] =>
  argv.filter(
    (word, index) =>
      !/^--(out|table|document)\b/.test(word) && !/^--(out|table|document)$/.test(argv[index - 1] ?? ''),
  )

/** Why the tables cannot be filled in; null when they can. Asked before anything is measured. */
export function documentProblem(path: string, names: readonly string[]): string | null {
  if (!existsSync(path)) return `there is no document ${path}`
  const text = readFileSync(path, 'utf8')
  const missing = names.find((name) => withTable(text, name, '') === null)
  if (missing === undefined) return null
  return `${path} has no place for this table; add <!-- table: ${missing} --> and <!-- /table -->, on lines of their own`
}

/** `name` is the marker; without it, that of each result is its scenario. */
export function fillDocument(path: string, results: readonly Result[], name: string | null): void {
  for (const result of results) {
    const filled = withTable(readFileSync(path, 'utf8'), name ?? result.scenario, tableOf(result))
    if (filled !== null) writeFileSync(path, filled)
  }
}

/** Returns the files it wrote. */
export async function writeResults(path: string, results: readonly Result[]): Promise<string[]> {
  const isFile = path.endsWith('.json')
  mkdirSync(isFile ? dirname(path) : path, { recursive: true })
  // Loaded here: the chart library is part of it, and few need it.
  const { renderReport } = await import('./page.ts')
  const texts = results.map((result) => ({
    file: isFile ? path : join(path, `${result.scenario}.json`),
    text: `${JSON.stringify(result, null, 2)}\n`,
  }))
  const page = isFile ? path.replace(/json$/, 'html') : join(path, 'report.html')
  for (const { file, text } of [...texts, { file: page, text: renderReport(results) }]) {
    writeFileSync(file, text)
  }
  return [...texts.map(({ file }) => file), page]
}
