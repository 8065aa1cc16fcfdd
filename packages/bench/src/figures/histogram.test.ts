import { expect, test } from 'bun:test'
import { createLatencies, curveOf, mergeLatencies } from './histogram.ts'

test('[C9] histograms of several processes add up to that of all values', () => {
  const parts = [createLatencies(), createLatencies()]
  const whole = createLatencies()
  for (let value = 1; value <= 1_000; value++) {
    parts[value % 2]!.record(value)
    whole.record(value)
  }
  const merged = mergeLatencies(parts.map((part) => part.encode()))
  expect(merged.count()).toBe(1_000)
  expect(curveOf(merged)).toEqual(curveOf(whole))
  expect(merged.at(50)).toBeCloseTo(500, -1)
  expect(merged.at(99)).toBeCloseTo(990, -1)
})

test('[C9] nothing recorded is 0, and microseconds are kept', () => {
  const latencies = createLatencies()
  expect([latencies.at(99), latencies.max(), latencies.count()]).toEqual([0, 0, 0])
  latencies.record(0.25)
  expect(latencies.at(50)).toBe(0.25)
})
