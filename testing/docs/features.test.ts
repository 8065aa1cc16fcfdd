// Keeps docs/features.md true: it lists every feature, and its states agree with what tests cite.
import { describe, expect, test } from 'bun:test'
import { documentOf, ROOT, rowsOf } from './docs-text.ts'

describe('docs/features.md', () => {
  const rows = rowsOf(documentOf('docs/features.md'))
  const idOf = (row: readonly string[]) => row[0]!
  const stateOf = (id: string) => rows.find((row) => idOf(row) === id)?.[2]

  /** Ids of features in the titles of tests, such as `[D1]` or `[S6, W7]`. */
  function citedIds(): Set<string> {
    const files = [...new Bun.Glob('{packages,testing}/**/*.ts').scanSync({ cwd: ROOT })]
    const titles = files
      .filter((path) => !/node_modules|dist\//.test(path))
      .flatMap((path) => documentOf(path).match(/\b(?:test|describe)\b.*/g) ?? [])
    const ids = titles.flatMap((title) =>
      Array.from(title.matchAll(/\[([A-Z0-9, ]+)\]/g), ([, list]) => list!),
    )
    return new Set(ids.flatMap((list) => list.split(', ')).filter((id) => /^[DSRWCX]\d+$/.test(id)))
  }

  test('lists every feature once, with its state', () => {
    const LAST = { D: 9, S: 7, R: 6, W: 9, C: 11, X: 9 }
    const all = Object.entries(LAST).flatMap(([letter, last]) =>
      Array.from({ length: last }, (_, n) => `${letter}${n + 1}`),
    )
    expect(rows.map(idOf)).toEqual(all)
    for (const [id, inShort, state] of rows) {
      expect([id, inShort!.length > 10]).toEqual([id, true])
      expect([id, state]).toEqual([id, expect.stringMatching(/^(built|not yet|partly: .{10,})$/)])
    }
  })

  test('says of features that tests cite that they are built or partly built, and only of those', () => {
    const cited = citedIds()
    expect([...cited].filter((id) => stateOf(id) === undefined || stateOf(id) === 'not yet')).toEqual([])
    const uncited = rows.filter((row) => stateOf(idOf(row)) === 'built' && !cited.has(idOf(row)))
    expect(uncited.map(idOf)).toEqual([])
  })
})
