// The store contract, fourth part: what processes say of themselves, for all to read for a while.
import { describe, expect, test } from 'bun:test'
import { SOME_INSTANT as T } from '../records.ts'
import type { StoreUnderTest } from './store-under-test.ts'

export function checkSummaries({ store }: StoreUnderTest): void {
  describe('process summaries', () => {
    test('[C2] are read as they were put up, until they run out', async () => {
      await store().publishSummary('g1', '{"text":"a b\\n📅"}', T + 10)
      await store().publishSummary('g2', '', T + 20)
      expect(await store().summaries(T)).toEqual(
        new Map([
          ['g1', '{"text":"a b\\n📅"}'],
          ['g2', ''],
        ]),
      )
      expect(await store().summaries(T + 10)).toEqual(new Map([['g2', '']]))
      expect(await store().summaries(T + 20)).toEqual(new Map())
    })

    test('[C2] a new one takes the place of the old, and what ran out may be put up again', async () => {
      await store().publishSummary('g1', 'old', T + 10)
      await store().publishSummary('g1', 'new', T + 20)
      expect(await store().summaries(T + 15)).toEqual(new Map([['g1', 'new']]))
      expect(await store().summaries(T + 20)).toEqual(new Map())
      await store().publishSummary('g1', 'again', T + 40)
      expect(await store().summaries(T + 30)).toEqual(new Map([['g1', 'again']]))
    })
  })
}
