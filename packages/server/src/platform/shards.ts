// The shard of a user. All processes must agree, also across releases, so the hash is a published one
// (FNV-1a over UTF-8) and the number of shards is part of the data.

const utf8 = new TextEncoder()

export function shardOf(userId: string, shardCount: number): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < userId.length; index++) {
    const unit = userId.charCodeAt(index)
    if (unit > 0x7f) return hashBytes(utf8.encode(userId)) % shardCount
    hash = Math.imul(hash ^ unit, 0x01000193)
  }
  return (hash >>> 0) % shardCount
}

function hashBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

/** Items for one call to one shard, and their positions in the batch. */
export interface ShardGroup<Item> {
  shard: number
  items: Item[]
  positions: number[]
}

/** Splits a batch by shard, and the items of one shard into groups of at most `groupMax`. */
export function groupByShard<Item>(
  items: readonly Item[],
  userIdOf: (item: Item) => string,
  shardCount: number,
  groupMax: number,
): ShardGroup<Item>[] {
  const groups: ShardGroup<Item>[] = []
  const open = new Map<number, ShardGroup<Item>>()
  for (const [position, item] of items.entries()) {
    const shard = shardOf(userIdOf(item), shardCount)
    let group = open.get(shard)
    if (group === undefined || group.items.length === groupMax) {
      group = { shard, items: [], positions: [] }
      open.set(shard, group)
      groups.push(group)
    }
    group.items.push(item)
    group.positions.push(position)
  }
  return groups
}
