// The epoch of each shard in Redis: a name, and the instant at which it began to remember. A shard without an epoch,
// or with another one than before, lost its memory, even if no connection broke and other shards did not. Until every
// gateway had time to announce itself again, such a shard is settling: what it does not know proves nothing.
//
// The first process of a deployment finds neither epochs nor leases. Its epochs are settled from the start, because
// no gateway could announce anything. Where the archive says that a process was up a moment ago, it is not the first.
// A process that knew an earlier epoch replaces such a one: it was not the first.
import type { RedisClient } from '../redis/client.ts'
import { EPOCH } from './redis-scripts.ts'
import type { RedisShardCalls } from './redis-shard-calls.ts'

export interface RedisEpochs {
  lookAtShards(now: number, isInUse?: boolean): Promise<void>
  /** Looks at the shards that did not know a user, before that is believed. */
  check(shards: Iterable<number>): Promise<void>
  /** Whether this is the epoch that was seen last. */
  isKnown(shard: number, text: string | null): boolean
  /** Until this instant the shard is settling. */
  settlesAt(shard: number): number
}

export interface RedisEpochsParts {
  client: RedisClient
  shardCalls: RedisShardCalls
  shardCount: number
  shardKey: (shard: number) => string
  /** How long a shard settles. */
  settleMs: number
  newName: () => string
  /** These shards lost their memory since this process last looked. */
  onLost: (shards: readonly number[]) => void
  /** Whether any gateway or sweeper has or had a lease. */
  hasLeases: () => Promise<boolean>
  /** The clock of the store. Of two processes that find a loss, the first dates it, and its own clock may be wrong. */
  time: () => Promise<number | null>
}

/** The instant of an epoch that has nothing to wait for. */
const SETTLED = 0

export function createRedisEpochs(parts: RedisEpochsParts): RedisEpochs {
  const { client, shardCalls, shardCount, shardKey, settleMs, newName, onLost, hasLeases, time } = parts
  const names: string[] = Array.from({ length: shardCount }, () => '')
  const madeAt = new Float64Array(shardCount)
  let isFirstLook = true
  const allShards = Array.from({ length: shardCount }, (_, shard) => shard)

  const isKnown = (shard: number, text: string | null) => text !== null && nameOf(text) === names[shard]

  async function read(shards: readonly number[]): Promise<(string | null)[]> {
    const keys = shards.map((shard) => `${shardKey(shard)}e`)
    if (!client.isCluster) return (await client.send('mget', keys)) as (string | null)[]
    return Promise.all(keys.map(async (key) => (await client.send('get', [key])) as string | null))
  }

  async function look(shards: readonly number[], now: number, isInUse = false): Promise<void> {
    const held = await read(shards)
    const changed = shards.filter((shard, index) => !isKnown(shard, held[index]!))
    if (changed.length === 0) return
    // Only a process that has not looked before can be the first of a deployment.
    const isFirst = isFirstLook && !isInUse && !(await hasLeases())
    const since = isFirst ? SETTLED : now
    const taken = await Promise.all(changed.map((shard) => take(shard, since, now)))
    const lost = changed.filter((_, index) => taken[index] === 'lost')
    if (lost.length > 0) onLost(lost)
  }

  async function take(shard: number, since: number, now: number): Promise<'new' | 'lost' | 'known'> {
    const before = names[shard]!
    const text = (await shardCalls.run(EPOCH, shard, [before, newName(), since, now], 1)) as string
    const name = nameOf(text)
    // Another look was quicker.
    if (names[shard] === name) return 'known'
    names[shard] = name
    madeAt[shard] = Number(text.slice(text.indexOf(' ') + 1))
    return before === '' ? 'new' : 'lost'
  }

  return {
    async lookAtShards(now, isInUse) {
      await look(allShards, now, isInUse)
      isFirstLook = false
    },
    check: async (shards) => look([...shards], (await time())!),
    isKnown,
    settlesAt: (shard) => (madeAt[shard] === SETTLED ? SETTLED : madeAt[shard]! + settleMs),
  }
}

const nameOf = (text: string): string => text.slice(0, text.indexOf(' '))
