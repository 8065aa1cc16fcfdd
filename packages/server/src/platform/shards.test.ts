import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { groupByShard, shardOf } from './shards.ts'

const WHOLE_HASH = 2 ** 32

describe('shards', () => {
  test('[C2] the hash is FNV-1a over UTF-8, as published, for ever', () => {
    expect(shardOf('', WHOLE_HASH)).toBe(0x811c9dc5)
    expect(shardOf('a', WHOLE_HASH)).toBe(0xe40c292c)
    expect(shardOf('foobar', WHOLE_HASH)).toBe(0xbf9cf968)
    const bytes = [...new TextEncoder().encode('zoë👩🏽‍🚀')]
    const expected = bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5)
    expect(shardOf('zoë👩🏽‍🚀', WHOLE_HASH)).toBe(expected)
  })

  test('[C2] users spread evenly over the shards', () => {
    const counts = new Uint32Array(64)
    for (let index = 0; index < 64_000; index++) counts[shardOf(`user-${index}`, 64)]!++
    expect(Math.min(...counts)).toBeGreaterThan(800)
    expect(Math.max(...counts)).toBeLessThan(1_200)
  })

  test('[C2] groups hold every user once, in order, in their shard and within the limit', () => {
    const ids = fc.array(fc.string(), { maxLength: 200, size: 'max' })
    const property = fc.property(ids, fc.integer({ min: 1, max: 9 }), (userIds, groupMax) => {
      const groups = groupByShard(userIds, (userId) => userId, 4, groupMax)
      const seen: string[] = []
      for (const { shard, items, positions } of groups) {
        expect(items.length).toBeLessThanOrEqual(groupMax)
        expect(positions).toEqual([...positions].sort((a, b) => a - b))
        for (const [index, position] of positions.entries()) {
          expect(items[index]).toBe(userIds[position]!)
          expect(shardOf(items[index]!, 4)).toBe(shard)
          seen[position] = items[index]!
        }
      }
      expect(seen).toEqual(userIds)
    })
    fc.assert(property, { includeErrorInReport: true })
  })
})
