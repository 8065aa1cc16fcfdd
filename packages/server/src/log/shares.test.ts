import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { quotaOf } from './shares.ts'

test('[C3] quotas add up to all partitions and differ by one at most', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 1_000 }),
      (consumers, partitions) => {
        const quotas = Array.from({ length: consumers }, (_, place) => quotaOf(place, consumers, partitions))
        expect(quotas.reduce((sum, quota) => sum + quota)).toBe(partitions)
        expect(Math.max(...quotas) - Math.min(...quotas)).toBeLessThanOrEqual(1)
      },
    ),
  )
})
