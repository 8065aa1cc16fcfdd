// PresenceStore in Redis, a single server or a cluster: the hot state that many processes share. Users are
// spread over shards, and all keys of a shard are on one node, so a commit, its indexes and the interest it
// returns are one atomic step. A batch becomes one call per shard of a cluster, or one call to a single server
// (redis-shard-calls.ts). Calls are bounded, because Redis runs nothing else meanwhile.
import { STATUSES, type Status } from '@greendot/protocol'
import type { Clock } from '../platform/clock.ts'
import { randomName } from '../platform/ids.ts'
import { groupByShard, shardOf } from '../platform/shards.ts'
import type { RedisClient } from '../redis/client.ts'
import type { Commit, CommitResult, PresenceStore } from './port.ts'
import { createRedisDuties, dutyCode } from './redis-duties.ts'
import { createRedisEpochs } from './redis-epochs.ts'
import { createRedisInterest } from './redis-interest.ts'
import { createRedisLeases } from './redis-leases.ts'
import { createRedisLoads } from './redis-loads.ts'
import { encodeRecord, headOf } from './redis-record.ts'
import { COMMIT, FORGET } from './redis-scripts.ts'
import { createRedisShardCalls } from './redis-shard-calls.ts'
import { createRedisSummaries } from './redis-summaries.ts'

const SHARDS = 64
const SETTLE_MS = 13_000
/** A watched record with a deadline, or one whose row is not written, is kept for this much longer. */
const KEPT_LONGER_MS = 300_000

const CONFLICT: CommitResult = { outcome: 'conflict' }
const NO_GATEWAYS: readonly string[] = []

export interface RedisStoreOptions {
  client: RedisClient
  clock: Clock
  /** Part of the data: it must be the same for all processes on one Redis and never change. */
  shards?: number
  /** How long gateways may take to announce themselves again after a shard lost its memory. */
  settleMs?: number
  /** These shards lost their memory, and perhaps no connection broke. */
  onShardsLost?: (shards: readonly number[]) => void
  /** Answers queries, and may be behind. */
  replicas?: RedisClient | null
  /** The prefix of all keys, without braces. */
  prefix?: string
}

export interface RedisStore extends PresenceStore {
  /** From replicas, if there are any. */
  loadForQuery: PresenceStore['load']
}

export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const { client, clock, shards: shardCount = SHARDS, settleMs = SETTLE_MS, prefix = '' } = options
  if (/[{}]/.test(prefix)) throw new Error('a prefix with braces would spread the keys of a shard')
  const shardKeys = Array.from({ length: shardCount }, (_, shard) => `${prefix}{s${shard}}:`)
  const shardKey = (shard: number): string => shardKeys[shard]!
  const { drop: dropLease, ...leases } = createRedisLeases(client, prefix)
  const shardCalls = createRedisShardCalls(client, shardKey)
  const interest = createRedisInterest(shardCalls, shardCount)

  const epochs = createRedisEpochs({
    client,
    shardCalls,
    shardCount,
    shardKey,
    settleMs,
    newName: () => randomName('e-'),
    onLost: options.onShardsLost ?? (() => {}),
    hasLeases: async () => (await leases.liveLeases(0)).length > 0,
    time: leases.time,
  })

  const onAllShards = <Answer>(ask: (key: string) => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(shardKeys.map(ask))

  async function commit(commits: readonly Commit[]): Promise<CommitResult[]> {
    // When a part of Redis fails, the caller still needs the results of the other parts. Commits without a
    // result count as conflicts, so they are loaded again.
    const results: CommitResult[] = Array.from({ length: commits.length }, () => CONFLICT)
    const groups = groupByShard(commits, ({ userId }) => userId, shardCount, COMMIT.usersMax)
    const outcomes = await Promise.allSettled(
      groups.map(async ({ shard, items, positions }) => {
        const args = items.flatMap(toArguments)
        const answers = (await shardCalls.run(COMMIT, shard, args, items.length)) as Answers
        for (const [index, position] of positions.entries()) results[position] = toResult(answers, index)
      }),
    )
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected')
    if (failures.length > 0 && failures.length === groups.length) throw failures[0]!.reason
    return results
  }

  async function forget(now: number, limit: number): Promise<number> {
    const counts = await onAllShards((key) => client.send('zcount', [`${key}keep`, '-inf', `(${now}`]))
    const calls: Promise<unknown>[] = []
    let left = limit
    for (const [shard, count] of counts.entries()) {
      const share = Math.min(Number(count), left, FORGET.usersMax)
      if (share === 0) continue
      left -= share
      calls.push(shardCalls.run(FORGET, shard, [now, share, now + KEPT_LONGER_MS], share))
    }
    return (await Promise.all(calls)).reduce<number>((sum, forgotten) => sum + Number(forgotten), 0)
  }

  return {
    ...leases,
    ...createRedisSummaries(client, prefix),
    ...createRedisDuties(client, shardCalls, shardCount, shardKey),
    shardCount,
    shardOf: (userId) => shardOf(userId, shardCount),
    lookAtShards: epochs.lookAtShards,
    settlesAt: epochs.settlesAt,
    load: createRedisLoads({ client, clock, shardCount, shardKey, epochs }),
    loadForQuery: createRedisLoads({
      client: options.replicas ?? client,
      clock,
      shardCount,
      shardKey,
      epochs,
    }),
    commit,
    async due(shard, now, limit) {
      if (shardKeys[shard] === undefined) throw new RangeError(`no shard ${shard}: there are ${shardCount}`)
      const key = `${shardKey(shard)}due`
      const range = [key, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES']
      const listed = (await client.send('zrange', range)) as string[]
      return Array.from({ length: listed.length / 2 }, (_, index) => ({
        userId: listed[index * 2]!,
        dueAt: Number(listed[index * 2 + 1]),
      }))
    },
    forget,
    addInterest: (gatewayId, userIds) => interest.want(named(gatewayId), userIds, true),
    removeInterest: (gatewayId, userIds) => interest.want(named(gatewayId), userIds, false),
    async dropGateway(gatewayId) {
      // The lease is last: while the gateway is listed, any sweeper finishes an interrupted drop.
      await interest.drop(gatewayId)
      await dropLease(gatewayId)
    },
    async usersOf(gatewayId) {
      const users = await onAllShards((key) => client.send('smembers', [`${key}g:${gatewayId}`]))
      return users.flat() as string[]
    },
    async attachedGateways() {
      const names = await onAllShards((key) => client.send('smembers', [`${key}a`]))
      return [...new Set(names.flat() as string[])]
    },
    async countByStatus() {
      const counts: Record<Status, number> = { online: 0, away: 0, busy: 0, offline: 0 }
      for (const held of await onAllShards((key) => client.send('hmget', [`${key}c`, ...STATUSES]))) {
        for (const [index, status] of STATUSES.entries()) counts[status] += Number((held as string[])[index])
      }
      return counts
    },
    // The creator of the connection closes it.
    close: async () => {},
  }
}

function toArguments(commit: Commit): string[] {
  const { userId, expectedRevision, record, dueAt, retainUntil, owed, logged } = commit
  for (const { gatewayId } of record.sessions) named(gatewayId)
  return [
    userId,
    String(expectedRevision),
    headOf(record),
    encodeRecord(record),
    dueAt === null ? '' : String(dueAt),
    retainUntil === null ? '' : String(retainUntil),
    dutyCode(owed),
    logged ?? '',
  ]
}

/**
 * Per user the new revision, or 0, the interested gateways, each followed by a line break, and the revision
 * of a commit that is not announced yet, or ''.
 */
type Answers = (number | string)[]

function toResult(answers: Answers, index: number): CommitResult {
  const revision = answers[index * 3] as number
  if (revision === 0) return CONFLICT
  const gateways = answers[index * 3 + 1] as string
  const interested = gateways === '' ? NO_GATEWAYS : gateways.slice(0, -1).split('\n')
  const committed: CommitResult = { outcome: 'committed', revision, interested }
  const unannounced = answers[index * 3 + 2] as string
  return unannounced === '' ? committed : { ...committed, unannounced: Number(unannounced) }
}

/** Scripts separate names in lists by a space or a line break. */
function named(gatewayId: string): string {
  if (/\s/.test(gatewayId)) throw new Error('the name of a gateway has white space in it')
  return gatewayId
}
