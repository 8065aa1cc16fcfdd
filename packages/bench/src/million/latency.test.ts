import { expect, test } from 'bun:test'
import { deliveriesIn, mergeLatencies, percentileMs } from './latency.ts'

// Buckets of the program: 16 to 17 microseconds is 16, 32 to 34 is 32, 1,024 to 1,088 is 112.
test('[C9] percentiles are upper ends of buckets, over all processes', () => {
  const merged = mergeLatencies([
    { max_us: 17, buckets: { 16: 50 } },
    { max_us: 1_080, buckets: { 16: 40, 112: 10 } },
  ])
  expect(deliveriesIn(merged)).toBe(100)
  expect(percentileMs(merged, 0.5)).toBe(0.017)
  expect(percentileMs(merged, 0.99)).toBe(1.08)
  expect(percentileMs({ max_us: 0, buckets: {} }, 0.5)).toBeNull()
})
