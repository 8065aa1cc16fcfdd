// Sweepers share the shards by hashing.
import { expect, test } from 'bun:test'
import { ownerOf } from './shard-owner.ts'

const SHARDS = Array.from({ length: 64 }, (_, shard) => shard)
const NAMES = ['p-a', 'p-b', 'p-c', 'p-d']

test('[D3] every shard has one owner, whatever the order of the names', () => {
  for (const shard of SHARDS) expect(ownerOf(shard, NAMES)).toBe(ownerOf(shard, NAMES.toReversed()))
  expect(ownerOf(0, [])).toBeNull()
})

test('[D3] every sweeper owns some shards', () => {
  expect(new Set(SHARDS.map((shard) => ownerOf(shard, NAMES)))).toEqual(new Set(NAMES))
})

test('[D3] when a sweeper goes only its own shards move', () => {
  const rest = NAMES.slice(1)
  for (const shard of SHARDS) {
    const owner = ownerOf(shard, NAMES)!
    if (owner !== NAMES[0]) expect(ownerOf(shard, rest)).toBe(owner)
  }
})
