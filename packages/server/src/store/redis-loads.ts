// Reads records from Redis. All reads of one turn of the event loop leave together, one command per shard:
// a thousand users that connect at once and watch eighteen others each would otherwise cost thousands of
// commands. A record is read after it was asked for, never before.
import type { Clock } from '../platform/clock.ts'
import { shardOf } from '../platform/shards.ts'
import type { RedisClient } from '../redis/client.ts'
import type { Stored } from './port.ts'
import type { RedisEpochs } from './redis-epochs.ts'
import { decodeStored } from './redis-record.ts'

/** Bounds how long one command keeps Redis busy. */
const KEYS_PER_CALL = 500

/** One command: its keys, and the position of each user among them. */
interface Batch {
  keys: string[]
  /** The shard of each key. The first key of a shard is its epoch. */
  shards: number[]
  epochPlace: Map<number, number>
  placeByUser: Map<string, number>
  done: PromiseWithResolvers<void>
  stored: (Stored | null)[]
}

export function createRedisLoads(parts: {
  client: RedisClient
  clock: Clock
  shardCount: number
  shardKey: (shard: number) => string
  epochs: Pick<RedisEpochs, 'check' | 'isKnown'>
}): (userIds: readonly string[]) => Promise<(Stored | null)[]> {
  const { client, clock, shardCount, shardKey, epochs } = parts
  let full: Batch[] = []
  let openByGroup = new Map<number, Batch>()
  let isScheduled = false

  function openBatch(group: number): Batch {
    const open = openByGroup.get(group)
    if (open !== undefined && open.keys.length < KEYS_PER_CALL) return open
    if (open !== undefined) full.push(open)
    const batch: Batch = {
      keys: [],
      shards: [],
      epochPlace: new Map(),
      placeByUser: new Map(),
      done: Promise.withResolvers(),
      stored: [],
    }
    openByGroup.set(group, batch)
    if (!isScheduled) {
      isScheduled = true
      clock.soon(sendAll)
    }
    return batch
  }

  function sendAll(): void {
    const batches = [...full, ...openByGroup.values()]
    full = []
    openByGroup = new Map()
    isScheduled = false
    for (const batch of batches) send(batch).then(batch.done.resolve, batch.done.reject)
  }

  async function send(batch: Batch): Promise<void> {
    const texts = (await client.send('mget', batch.keys)) as (string | null)[]
    const isEpoch = new Set(batch.epochPlace.values())
    batch.stored = texts.map((text, index) =>
      text === null || isEpoch.has(index) ? null : decodeStored(text),
    )
    await doubtSilence(batch, texts)
  }

  /** A shard that lost its memory does not know a user either: its epoch tells. */
  async function doubtSilence(
    { shards, epochPlace }: Batch,
    texts: readonly (string | null)[],
  ): Promise<void> {
    const doubtful = new Set<number>()
    for (const [index, text] of texts.entries()) {
      const shard = shards[index]!
      if (text === null && !epochs.isKnown(shard, texts[epochPlace.get(shard)!]!)) doubtful.add(shard)
    }
    if (doubtful.size > 0) await epochs.check(doubtful)
  }

  function place(userId: string): { batch: Batch; at: number } {
    const shard = shardOf(userId, shardCount)
    // A single server accepts keys of many shards in one command.
    const batch = openBatch(client.isCluster ? shard : 0)
    const known = batch.placeByUser.get(userId)
    if (known !== undefined) return { batch, at: known }
    if (!batch.epochPlace.has(shard)) {
      batch.epochPlace.set(shard, batch.keys.push(`${shardKey(shard)}e`) - 1)
      batch.shards.push(shard)
    }
    const at = batch.keys.push(`${shardKey(shard)}u:${userId}`) - 1
    batch.shards.push(shard)
    batch.placeByUser.set(userId, at)
    return { batch, at }
  }

  return async (userIds) => {
    const places = userIds.map(place)
    const batches = new Set(places.map(({ batch }) => batch))
    await Promise.all(Array.from(batches, ({ done }) => done.promise))
    return places.map(({ batch, at }) => batch.stored[at]!)
  }
}
