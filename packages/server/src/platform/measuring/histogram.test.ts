// Histograms that observe by a look-up table, beside a search through the bounds.
import { expect, test } from 'bun:test'
import { createHistogram } from './histogram.ts'

const BOUNDS_MS = [5, 10, 50, 1_000]

test('[X8] a value is in the first bucket whose bound it does not exceed', () => {
  const values = [-3, 0, 0.2, 4.9, 5, 5.1, 10, 49, 50, 50.01, 999.5, 1_000, 1_000.1, 1e9]
  const histogram = createHistogram(BOUNDS_MS)
  const expected = new Array<number>(BOUNDS_MS.length + 1).fill(0)
  for (const value of values) {
    histogram.observe(value)
    const bucket = BOUNDS_MS.findIndex((bound) => value <= bound)
    expected[bucket === -1 ? BOUNDS_MS.length : bucket]!++
  }
  expect(histogram.read().counts).toEqual(expected)
})

test('[X8] many equal values are one observation with a count', () => {
  const histogram = createHistogram(BOUNDS_MS)
  histogram.observe(20, 1_000)
  histogram.observe(2)
  expect(histogram.read()).toEqual({ counts: [1, 0, 1_000, 0, 0], sumMs: 20_002 })
})
