// Epochs on a real Redis: a shard that lost its memory is noticed, also when no connection broke, and what it does not
// know is no evidence until gateways had time to announce themselves again.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  isSkipped,
  newPrefix,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import { aCommit } from '../../../../testing/worlds/records.ts'
import { systemClock as clock } from '../platform/clock.ts'
import { shardOf } from '../platform/shards.ts'
import { createRedisStore, type RedisStore } from './redis.ts'

const SHARDS = 4
const SETTLE_MS = 5_000
const userIn = (shard: number): string => {
  for (let n = 0; ; n++) if (shardOf(`user-${n}`, SHARDS) === shard) return `user-${n}`
}

describe.each([
  ['a single server', useRedis],
  ['a cluster', useRedisCluster],
] as const)(`epochs in %s`, (_, use) => {
  describe.skipIf(isSkipped)(`a shard${reason}`, () => {
    const { connection } = use()
    let prefix: string
    beforeEach(() => {
      prefix = newPrefix()
    })

    function open(ownClock = clock): { store: RedisStore; lost: number[][] } {
      const lost: number[][] = []
      const onShardsLost = (shards: readonly number[]) => void lost.push([...shards].sort())
      const options = { client: connection(), clock: ownClock, shards: SHARDS, prefix, settleMs: SETTLE_MS }
      return { store: createRedisStore({ ...options, onShardsLost }), lost }
    }

    /** Deletes every key of a shard, as an emptied master does. */
    async function empty(shard: number): Promise<void> {
      const base = `${prefix}{s${shard}}:`
      const keys = ['e', 'n', 'c', 'a', 'due', 'keep', `u:${userIn(shard)}`]
      for (const key of keys) await connection().send('del', [base + key])
    }

    test('[C7] of a new deployment has nothing to wait for', async () => {
      const { store, lost } = open()
      const now = Date.now()
      await store.lookAtShards(now)
      const second = open()
      await second.store.lookAtShards(now)
      for (let shard = 0; shard < SHARDS; shard++)
        expect([store.settlesAt(shard), second.store.settlesAt(shard)]).toEqual([0, 0])
      expect([...lost, ...second.lost]).toEqual([])
    })

    test('[C7] that lost its memory is noticed by a look, once, and settles', async () => {
      const { store, lost } = open()
      await store.lookAtShards(1_000)
      await empty(2)
      await store.lookAtShards(2_000)
      expect(lost).toEqual([[2]])
      expect([0, 1, 2, 3].map(store.settlesAt)).toEqual([0, 0, 2_000 + SETTLE_MS, 0])
      await store.lookAtShards(3_000)
      expect(lost).toEqual([[2]])
    })

    test('[C7, R3] that lost its memory is noticed by a load that does not find a user', async () => {
      const { store, lost } = open()
      await store.lookAtShards(1_000)
      const users = [0, 1, 2, 3].map(userIn)
      await store.commit(users.map((userId) => aCommit(userId)))
      await empty(1)
      expect((await store.load(users)).map((stored) => stored !== null)).toEqual([true, false, true, true])
      expect(lost).toEqual([[1]])
      expect(store.settlesAt(1)).toBeGreaterThan(0)
      // An unknown user of a shard that remembers is unknown.
      await store.load(['stranger'])
      expect(lost).toHaveLength(1)
    })

    test.each([
      ['slow', -3_600_000],
      ['fast', 3_600_000],
    ])(
      '[C7] that a process with a %s clock finds empty is dated by the clock of Redis',
      async (_, skewMs) => {
        const { store } = open({ ...clock, now: () => clock.now() + skewMs })
        await store.lookAtShards(1_000)
        await empty(1)
        const before = (await store.time())!
        await store.load([userIn(1)])
        expect(store.settlesAt(1)).toBeGreaterThanOrEqual(before + SETTLE_MS)
        expect(store.settlesAt(1)).toBeLessThanOrEqual((await store.time())! + SETTLE_MS)
      },
    )

    test('[C7] is settling for every process, whichever notices first', async () => {
      const [first, second] = [open(), open()]
      await first.store.lookAtShards(1_000)
      await second.store.lookAtShards(1_000)
      await empty(3)
      await first.store.lookAtShards(2_000)
      await second.store.lookAtShards(2_500)
      expect([first.lost, second.lost]).toEqual([[[3]], [[3]]])
      expect(second.store.settlesAt(3)).toBe(2_000 + SETTLE_MS)
    })

    test('[C7] that a new process found empty first is settling too, once a survivor has looked', async () => {
      const survivor = open()
      await survivor.store.lookAtShards(1_000)
      await empty(0)
      const late = open()
      await late.store.lookAtShards(2_000)
      expect(late.store.settlesAt(0)).toBe(0)
      await survivor.store.lookAtShards(2_100)
      await late.store.lookAtShards(2_200)
      expect(late.store.settlesAt(0)).toBe(2_100 + SETTLE_MS)
      expect([survivor.lost, late.lost]).toEqual([[[0]], [[0]]])
    })

    test('[C7] of a deployment that is in use settles when a new process finds it empty, leases and all', async () => {
      const { store } = open()
      await store.lookAtShards(2_000, true)
      expect(store.settlesAt(0)).toBe(2_000 + SETTLE_MS)
    })

    test('[C7] of a deployment with leases settles when a new process finds it empty', async () => {
      const survivor = open()
      await survivor.store.lookAtShards(1_000)
      await survivor.store.openLease('g1', Date.now() + 60_000)
      await empty(0)
      const late = open()
      await late.store.lookAtShards(2_000)
      expect(late.store.settlesAt(0)).toBe(2_000 + SETTLE_MS)
    })
  })
})
