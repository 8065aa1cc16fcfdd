// Writes results: a JSON file for each scenario and one page for all of them. A path that ends in .json
// is the file itself, for a run of one scenario; the page lies beside it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Result } from '../figures/result.ts'

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
