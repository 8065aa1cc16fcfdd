// docs/simulation.md names every planted bug, and how each was caught.
import { expect, test } from 'bun:test'
import { PLANTED } from '../simulation/planted/planted.ts'
import { documentOf, rowsOf } from './docs-text.ts'

const SEEDS_MAX = 2_000

test('[X1] docs/simulation.md says of every planted bug which check caught it, within 2,000 seeds', () => {
  const names = new Set(PLANTED.map(({ name }) => name))
  const rows = rowsOf(documentOf('docs/simulation.md')).filter(([name]) => names.has(name!))
  expect(rows.map(([name, breaks]) => [name, breaks])).toEqual(
    PLANTED.map(({ name, breaks }) => [name, breaks]),
  )
  for (const [name, , check, seeds] of rows) {
    expect([name, check]).toEqual([name, expect.stringMatching(/^[a-z, ]+$/)])
    expect(Number(seeds)).toBeWithin(1, SEEDS_MAX + 1)
  }
})
