// Open duties in Redis: work that a commit left to its process. A duty is known by the revision of that commit.
// Revisions are at least the time in microseconds, so the same number also says how old the duty is.

import { groupByShard } from '../platform/shards.ts'
import type { RedisClient } from '../redis/client.ts'
import type { FoundDuty, Owed, PresenceStore } from './port.ts'
import { CLEAR_DUTIES } from './redis-scripts.ts'
import type { RedisShardCalls } from './redis-shard-calls.ts'

const MICROSECONDS = 1_000

/** The duties of a commit as the script reads them. */
export function dutyCode(owed: Owed | undefined): string {
  if (owed === undefined) return '0'
  return String((owed.duties.includes('announce') ? 1 : 0) + (owed.duties.includes('archive') ? 2 : 0))
}

export function createRedisDuties(
  client: RedisClient,
  shardCalls: RedisShardCalls,
  shardCount: number,
  shardKey: (shard: number) => string,
): Pick<PresenceStore, 'openDuties' | 'clearDuties'> {
  return {
    async openDuties(duty, shard, until, limit) {
      if (shard >= shardCount) throw new RangeError(`no shard ${shard}: there are ${shardCount}`)
      const range = ['-inf', (until + 1) * MICROSECONDS - 1, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES']
      const listed = (await client.send('zrange', [`${shardKey(shard)}${duty}`, ...range])) as string[]
      return Array.from({ length: listed.length / 2 }, (_, index): FoundDuty => {
        const revision = Number(listed[index * 2 + 1])
        return { userId: listed[index * 2]!, revision, since: Math.floor(revision / MICROSECONDS) }
      })
    },
    async clearDuties(duty, done) {
      const groups = groupByShard(done, ({ userId }) => userId, shardCount, CLEAR_DUTIES.usersMax)
      await Promise.all(
        groups.map(({ shard, items }) => {
          const cleared = items.flatMap(({ userId, revision }) => [userId, revision])
          return shardCalls.run(CLEAR_DUTIES, shard, [duty, ...cleared], items.length)
        }),
      )
    },
  }
}
