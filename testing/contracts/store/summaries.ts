// The store contract, fourth part: texts that processes publish about themselves, each with an expiry.
import { describe, expect, test } from 'bun:test'
import { SOME_INSTANT as T } from '../../worlds/records.ts'
import type { StoreUnderTest } from './under-test.ts'

export function checkSummaries({ store }: StoreUnderTest): void {
  describe('process summaries', () => {
    test('[C2] are read as published until they expire', async () => {
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

    test('[C2] a new one replaces the old, and an expired one can be published again', async () => {
      await store().publishSummary('g1', 'old', T + 10)
      await store().publishSummary('g1', 'new', T + 20)
      expect(await store().summaries(T + 15)).toEqual(new Map([['g1', 'new']]))
      expect(await store().summaries(T + 20)).toEqual(new Map())
      await store().publishSummary('g1', 'again', T + 40)
      expect(await store().summaries(T + 30)).toEqual(new Map([['g1', 'again']]))
    })
  })
}
