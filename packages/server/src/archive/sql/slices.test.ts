// Long work in turns does the same as short work in one go, and its turns are as short as promised.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { inSlices, slicesOf, sorted, sortedSet } from './slices.ts'

const someTexts = (maxLength: number) =>
  fc.array(fc.string({ unit: 'grapheme', maxLength: 3 }), { maxLength, size: 'max' })

/** Counts the pauses, and lets nothing else happen meanwhile. */
function countingPause() {
  let pauses = 0
  return {
    pause: async () => {
      pauses += 1
    },
    pauses: () => pauses,
  }
}

test('[C9] slices are the list, in order, and none is larger than allowed unless it is one item', () =>
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 12 })),
      fc.integer({ min: 1, max: 6 }),
      fc.nat({ max: 20 }),
      (sizes, itemsMax, max) => {
        const slices = [...slicesOf(sizes, { itemsMax, size: { max, of: (size) => size } })]
        expect(slices.flat()).toEqual(sizes)
        for (const slice of slices) {
          expect(slice.length).toBeGreaterThan(0)
          expect(slice.length).toBeLessThanOrEqual(itemsMax)
          const total = slice.reduce((sum, size) => sum + size, 0)
          if (slice.length > 1) expect(total).toBeLessThanOrEqual(max)
        }
        expect([...slicesOf(sizes, { itemsMax })]).toHaveLength(Math.ceil(sizes.length / itemsMax))
      },
    ),
  ))

test('[C9] a pause stands between two slices, and nowhere else', async () => {
  const { pause, pauses } = countingPause()
  const pausesBefore: number[] = []
  await inSlices([1, 2, 3, 4, 5], { itemsMax: 2 }, pause, async () => pausesBefore.push(pauses()))
  expect(pausesBefore).toEqual([0, 1, 2])
  expect(pauses()).toBe(2)
  await inSlices([], { itemsMax: 2 }, pause, () => Promise.reject(new Error('nothing to do')))
})

test('[C9] sorting in turns is sorting', () =>
  fc.assert(
    fc.asyncProperty(someTexts(6_000), async (texts) => {
      const { pause } = countingPause()
      expect(await sorted(texts, pause)).toEqual(texts.toSorted())
      expect([...(await sortedSet(texts, pause))]).toEqual([...new Set(texts.toSorted())])
    }),
    { numRuns: 30 },
  ))

test('[C9] sorting a long list pauses at least as often as it has thousands', async () => {
  const { pause, pauses } = countingPause()
  await sorted(
    Array.from({ length: 50_000 }, (_, n) => String((n * 7919) % 50_000)),
    pause,
  )
  expect(pauses()).toBeGreaterThanOrEqual(50 * 6)
})
