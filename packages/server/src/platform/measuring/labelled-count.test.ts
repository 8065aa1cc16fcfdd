// Counters with a label whose values stay few.
import { expect, test } from 'bun:test'
import { createLabelledCount } from './labelled-count.ts'

test('[X8] announced values are there before the first of them is counted', () => {
  const count = createLabelledCount()
  count.announce(['read', 'write'])
  count.add('write')
  count.announce(['write'])
  expect(count.entries()).toEqual([
    ['read', 0],
    ['write', 1],
  ])
})

test('[X8] however many values come, the number of series is bounded and none is lost', () => {
  const count = createLabelledCount()
  for (let value = 0; value < 10_000; value++) count.add(String(value))
  expect(count.entries().length).toBeLessThanOrEqual(65)
  expect(count.entries().reduce((sum, [, times]) => sum + times, 0)).toBe(10_000)
})
