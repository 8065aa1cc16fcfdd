// The partitions of a change log in Redis: the calls of one consumer of a group. On a single server all shards go in
// one call. In a cluster each has a call of its own, because its keys may be on another node.
import type { RedisArgument, RedisClient, RedisScript } from '../redis/client.ts'
import type { LogEntry } from './port.ts'
import { KEEP, RELEASE, RENEW, SAY_ALIVE, TAKE } from './redis-scripts.ts'

/** One read returns at most so many entries of a partition. */
const READ_ENTRIES_MAX = 50

export interface RedisPartitionsParts {
  client: RedisClient
  prefix: string
  shardKey: (shard: number) => string
  group: string
  /** The name of the consumer. */
  name: string
  leaseMs: number
}

export interface RedisPartitions {
  /** Says that this consumer is alive; returns the names of all that are, in order. */
  sayAlive(): Promise<string[]>
  /** Takes up to `limit` of them that are free; returns the offsets of those it took. */
  take(shards: readonly number[], limit: number): Promise<Map<number, string>>
  /** The offsets of those that are still its own. */
  renew(shards: readonly number[]): Promise<Map<number, string>>
  /** The offset that is kept now; null when the partition is not its own any more. */
  keep(shard: number, offset: string): Promise<string | null>
  release(shards: readonly number[]): Promise<void>
  leave(): Promise<void>
  /** Entries after these offsets, of those that have any. */
  read(offsets: ReadonlyMap<number, string>): Promise<Map<number, LogEntry[]>>
}

type Stream = [key: string, entries: [id: string, fields: string[]][]]

export function createRedisPartitions(parts: RedisPartitionsParts): RedisPartitions {
  const { client, prefix, shardKey, group, name, leaseMs } = parts
  const consumers = `${prefix}{log:${group}}:consumers`

  const calls = (shards: readonly number[]): (readonly number[])[] =>
    shards.length === 0 ? [] : client.isCluster ? shards.map((shard) => [shard]) : [shards]

  /** What each shard answered, without those that answered ''. */
  async function onShards(
    script: RedisScript,
    args: readonly RedisArgument[],
    shards: readonly number[],
  ): Promise<Map<number, string>> {
    const answers = (await client.run(script, shardKey(shards[0]!), [
      group,
      name,
      ...args,
      ...shards.map(shardKey),
    ])) as string[]
    return new Map(
      shards.flatMap((shard, index) => (answers[index] === '' ? [] : [[shard, answers[index]!]])),
    )
  }

  return {
    sayAlive: async () => ((await client.run(SAY_ALIVE, consumers, [name, leaseMs])) as string[]).sort(),
    async take(shards, limit) {
      const taken = new Map<number, string>()
      const left = calls(shards)
      // As many calls at a time as shards are wanted, so that never too many are taken.
      while (left.length > 0 && taken.size < limit) {
        const wanted = limit - taken.size
        const answers = await Promise.all(
          left.splice(0, wanted).map((call) => onShards(TAKE, [leaseMs, wanted], call)),
        )
        for (const [shard, offset] of answers.flatMap((map) => [...map])) taken.set(shard, offset)
      }
      return taken
    },
    async renew(shards) {
      const renewed = await Promise.all(calls(shards).map((call) => onShards(RENEW, [leaseMs], call)))
      return new Map(renewed.flatMap((map) => [...map]))
    },
    async keep(shard, offset) {
      const kept = (await client.run(KEEP, shardKey(shard), [group, name, offset])) as string
      return kept === '' ? null : kept
    },
    async release(shards) {
      await Promise.all(
        calls(shards).map((call) =>
          client.run(RELEASE, shardKey(call[0]!), [group, name, ...call.map(shardKey)]),
        ),
      )
    },
    async leave() {
      await client.send('zrem', [consumers, name])
    },
    async read(offsets) {
      const read = await Promise.all(
        calls([...offsets.keys()]).map(async (call) => {
          const keys = call.map((shard) => `${shardKey(shard)}log`)
          const from = call.map((shard) => offsets.get(shard)!)
          const args = ['COUNT', READ_ENTRIES_MAX, 'STREAMS', ...keys, ...from]
          const streams = ((await client.send('xread', args)) ?? []) as Stream[]
          return streams.map(([key, entries]): [number, LogEntry[]] => [
            call[keys.indexOf(key)]!,
            entries.map(toEntry),
          ])
        }),
      )
      return new Map(read.flat())
    },
  }
}

/** Fields and values take turns; a foreign writer may have left out either field. */
function toEntry([offset, fields]: [id: string, fields: string[]]): LogEntry {
  let userId: string | null = null
  let text = ''
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] === 'u') userId = fields[index + 1]!
    if (fields[index] === 'r') text = fields[index + 1]!
  }
  return { userId, text, offset }
}
