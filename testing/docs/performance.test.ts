// Keeps docs/performance.md honest: a table is there because a run wrote it, and says which run that was.
import { describe, expect, test } from 'bun:test'
import { parseOptions } from '../../packages/bench/src/options.ts'
import { runsOf } from '../../packages/bench/src/report/document.ts'
import { documentOf } from './docs-text.ts'

const TABLE = /^<!-- table: (\S+) -->\n([\s\S]*?)^<!-- \/table -->$/gm
const ORIGIN =
  /^`npx greendot bench (.+)`, commit ([0-9a-f]{7,}), \d{4}-\d\d-\d\d, other programs took \d+ % of a core$/m

describe('docs/performance.md', () => {
  const document = documentOf('docs/performance.md')
  const places = Array.from(document.matchAll(TABLE), ([, name, text]) => ({ name: name!, text: text! }))
  /** A place that no run has filled yet shows nothing. */
  const tables = places.filter(({ text }) => text.trim() !== '')

  test('[X7] has no table that the benchmark did not write', () => {
    expect(document.replaceAll(TABLE, '').match(/^\|.*/gm) ?? []).toEqual([])
    expect(places.length).toBeGreaterThan(5)
    expect(new Set(places.map(({ name }) => name)).size).toBe(places.length)
  })

  test('[X7] names for each table a command of that scenario, a commit without changes and a day', () => {
    for (const { name, text } of tables) expect([name, text]).toEqual([name, expect.stringMatching(ORIGIN)])
    for (const { argv, tables } of runsOf(document)) {
      const parsed = parseOptions(argv)
      if (!parsed.ok) throw new Error(`${tables}: ${parsed.problem}`)
      expect(tables.map((name) => name.replace(/-.*/, ''))).toEqual([...parsed.options.scenarios])
    }
  })

  test('[C9] shows 51,322 users connected at once, and no faults', () => {
    const { text } = places.find(({ name }) => name === 'connect-51322')!
    if (tables.some(({ name }) => name === 'connect-51322'))
      expect(text).toMatch(/^\| connected users, before the timed connects +\| 51,322 +\|$/m)
    expect(document).not.toContain('Fault:')
  })
})
