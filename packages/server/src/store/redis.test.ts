import { describe, expect, test } from 'bun:test'
import {
  isSkipped,
  newPrefix,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import { storeContract } from '../../../../testing/contracts/store.ts'
import { aCommit, aRecord, aRecordOn, SOME_INSTANT as T } from '../../../../testing/worlds/records.ts'
import { systemClock as clock } from '../platform/clock.ts'
import { shardOf } from '../platform/shards.ts'
import type { RedisArgument, RedisClient, RedisScript } from '../redis/client.ts'
import type { PresenceStore } from './port.ts'
import { createRedisStore } from './redis.ts'

const MODEL_RUNS = 10
/** Among the arguments of a call about interest, after the prefix of the shard and the number of arguments. */
const GATEWAY = 2

describe.skipIf(isSkipped)(`redis store, single server${reason}`, () => {
  const { server, connection } = useRedis()
  const makeStore = async () => createRedisStore({ client: connection(), clock, prefix: newPrefix() })
  storeContract('single server', makeStore, { modelRuns: MODEL_RUNS })

  test('[C2] scripts that the server has forgotten are sent again', async () => {
    const store = await makeStore()
    const [first] = await store.commit([aCommit('a')])
    await server().cli('SCRIPT', 'FLUSH')
    const revision = first?.outcome === 'committed' ? first.revision : 0
    const many = ['b', 'c', 'd'].map((userId) => aCommit(userId))
    const [again, ...others] = await store.commit([aCommit('a', { expectedRevision: revision }), ...many])
    expect([again, ...others].map((one) => one?.outcome)).toEqual(Array(4).fill('committed'))
    await server().cli('SCRIPT', 'FLUSH')
    await store.openLease('g1', T)
    expect(await store.renewLease('g1', T + 1)).toBe(true)
  })

  test('[C2] revisions keep growing when the server lost its count', async () => {
    const prefix = newPrefix()
    const store = createRedisStore({ client: connection(), clock, shards: 1, prefix })
    const [before] = await store.commit([aCommit('a')])
    await server().cli('DEL', `${prefix}{s0}:n`, `${prefix}{s0}:u:a`)
    const [after] = await store.commit([aCommit('a')])
    const revisions = [before, after].map((one) => (one?.outcome === 'committed' ? one.revision : 0))
    expect(revisions[0]).toBeGreaterThan(0)
    expect(revisions[1]).toBeGreaterThan(revisions[0]!)
  })

  test('[R2] when every user is forgotten and every gateway dropped, only counters are left', async () => {
    const prefix = newPrefix()
    const store = createRedisStore({ client: connection(), clock, shards: 2, prefix })
    const users = Array.from({ length: 20 }, (_, index) => `user-${index}`)
    await store.openLease('g1', T)
    await store.addInterest('g1', users)
    await store.addInterest('g2', users.slice(0, 5))
    await store.commit(
      users.map((id) => aCommit(id, { record: aRecordOn('g1', 'g2'), dueAt: T, retainUntil: T })),
    )
    const keys = async () => (await server().cli('KEYS', `${prefix}*`)).split('\n').filter(Boolean)
    expect((await keys()).length).toBeGreaterThan(40)

    await store.lostGateways(T)
    for (const gateway of ['g1', 'g2']) await store.dropGateway(gateway)
    expect(await store.forget(T + 1, 100)).toBe(20)
    const left = ['{s0}:c', '{s0}:n', '{s1}:c', '{s1}:n'].map((name) => prefix + name)
    expect((await keys()).sort()).toEqual(left)
  })

  test('[C2] tells the time of the server', async () => {
    const store = await makeStore()
    const secondOf = async () => Number((await server().cli('TIME')).split('\n')[0]) * 1_000
    const before = await secondOf()
    const now = await store.time()
    expect(now).toBeWithin(before, (await secondOf()) + 1_000)
  })

  test('[D3] refuses a shard it does not have, and a prefix that would break the shards apart', async () => {
    const store = createRedisStore({ client: connection(), clock, shards: 4 })
    expect(store.shardCount).toBe(4)
    await expect(store.due(4, T, 10)).rejects.toThrow(RangeError)
    expect(() => createRedisStore({ client: connection(), clock, prefix: '{x}' })).toThrow('braces')
  })

  test('[C2] what an error says does not repeat what was sent', async () => {
    const prefix = newPrefix()
    const store = createRedisStore({ client: connection(), clock, shards: 1, prefix })
    await server().cli('SET', `${prefix}{s0}:due`, 'not a sorted set')
    const secret = aRecord({
      customStatus: { text: 'at the doctor', emoji: null, expiresAt: null, setAt: T },
    })
    const error = await store.commit([aCommit('a', { record: secret, dueAt: T })]).catch((failed) => failed)
    expect(error).toBeInstanceOf(Error)
    expect(Bun.inspect(error)).toContain('WRONGTYPE')
    expect(Bun.inspect(error)).not.toContain('at the doctor')
  })

  describe('batches', () => {
    test('[R1] a load is one command for all shards of a single server, repeats once', async () => {
      const { store, sent } = tapped(connection())
      await store.lookAtShards(Date.now())
      sent.length = 0
      const ids = Array.from({ length: 200 }, (_, index) => `user-${index}`)
      await Promise.all([store.load(ids), store.load(['user-0', 'another'])])
      // The epoch of each shard comes with it.
      const shards = new Set([...ids, 'another'].map((id) => shardOf(id, 64)))
      expect(sent.map(({ name, args }) => [name, args.length])).toEqual([['mget', 201 + shards.size]])
    })

    test('[C2] a commit is one call for all shards, and one keeps the server busy for at most 100 users', async () => {
      const { store, sent } = tapped(connection())
      const ids = Array.from({ length: 500 }, (_, index) => `user-${index}`)
      const few = await store.commit(ids.slice(0, 90).map((id) => aCommit(id)))
      expect(sent).toHaveLength(1)
      const results = await store.commit(ids.map((id) => aCommit(id)))
      // A shard is not divided, so a call may have room left.
      expect(sent.length).toBeWithin(1 + 5, 1 + 7)
      // Each has the result of its own user.
      const revisions = new Set(few.map((one) => one.outcome === 'committed' && one.revision))
      expect(revisions.size).toBe(90)
      expect(results.map(({ outcome }) => outcome)).toEqual(
        ids.map((_, index) => (index < 90 ? 'conflict' : 'committed')),
      )
    })

    test('[W3] what one turn wants of interest is one call, and the last wish counts', async () => {
      const { store, sent } = tapped(connection())
      const added = store.addInterest('g1', ['a', 'b', 'c'])
      for (const userId of ['a', 'b']) store.removeInterest('g1', [userId])
      await Promise.all([added, store.addInterest('g1', ['b'])])
      expect(sent).toHaveLength(1)
      const results = await store.commit(['a', 'b', 'c'].map((id) => aCommit(id)))
      expect(results.map((one) => one.outcome === 'committed' && one.interested)).toEqual([
        [],
        ['g1'],
        ['g1'],
      ])
    })

    test('[W3] wishes never overtake each other: a round waits for the one before', async () => {
      const gate = Promise.withResolvers<void>()
      const { store, sent } = tapped(connection(), { shards: 1, before: () => gate.promise })
      const removed = store.removeInterest('g1', ['a'])
      await Promise.resolve()
      const added = store.addInterest('g1', ['a'])
      const other = store.addInterest('g2', ['a'])
      await new Promise((resolve) => setImmediate(resolve))
      // The other gateway need not wait for this one.
      expect(sent.map(({ args }) => args[GATEWAY])).toEqual(['g1', 'g2'])
      gate.resolve()
      await Promise.all([removed, added, other])
      expect(sent.map(({ args }) => args[GATEWAY])).toEqual(['g1', 'g2', 'g1'])
      const [result] = await store.commit([aCommit('a')])
      expect(result?.outcome === 'committed' && [...result.interested].sort()).toEqual(['g1', 'g2'])
    })

    test('[C7] a call that fails does not hide what the others took', async () => {
      let calls = 0
      const before = async () => {
        if (++calls === 2) throw new Error('this call is lost')
      }
      const { store } = tapped(connection(), { shards: 1, before })
      const commits = Array.from({ length: 300 }, (_, index) => aCommit(`user-${index}`))
      const outcomes = (await store.commit(commits)).map((one) => one.outcome)
      expect(outcomes).toEqual(
        commits.map((_, index) => (index >= 100 && index < 200 ? 'conflict' : 'committed')),
      )
    })
  })
})

describe.skipIf(isSkipped)(`redis store, cluster${reason}`, () => {
  const { server, connection } = useRedisCluster()
  const makeStore = async () => createRedisStore({ client: connection(), clock, prefix: newPrefix() })
  storeContract('cluster', makeStore, { modelRuns: MODEL_RUNS })

  test('[C2] the shards lie on all masters, and scripts that one has forgotten are sent again', async () => {
    const store = await makeStore()
    const users = Array.from({ length: 200 }, (_, index) => `user-${index}`)
    const first = await store.commit(users.map((id) => aCommit(id)))
    for (const master of [0, 1, 2]) {
      expect(Number(await server().cli(master, 'DBSIZE'))).toBeGreaterThan(50)
      await server().cli(master, 'SCRIPT', 'FLUSH')
    }
    const again = await store.commit(
      users.map((id, index) => {
        const result = first[index]
        return aCommit(id, { expectedRevision: result?.outcome === 'committed' ? result.revision : -1 })
      }),
    )
    expect(again.every(({ outcome }) => outcome === 'committed')).toBe(true)
  })

  test('[C7] a part that fails does not hide what the others took', async () => {
    let failing = new Set([0])
    const before = async (shard: number) => {
      if (failing.has(shard)) throw new Error('this part is away')
    }
    const { store } = tapped(connection(), { shards: 2, before })
    const ids = Array.from({ length: 20 }, (_, index) => `user-${index}`)
    const commits = ids.map((id) => aCommit(id))
    const outcomes = (await store.commit(commits)).map((one) => one.outcome)
    expect(outcomes).toEqual(ids.map((id) => (shardOf(id, 2) === 0 ? 'conflict' : 'committed')))
    failing = new Set([0, 1])
    await expect(store.commit(commits)).rejects.toThrow('this part is away')
    expect(await store.commit([])).toEqual([])
  })

  test('[R1] a load is at most one command per shard', async () => {
    const { store, sent } = tapped(connection(), { shards: 8 })
    await store.lookAtShards(Date.now())
    sent.length = 0
    const ids = Array.from({ length: 300 }, (_, index) => `user-${index}`)
    await Promise.all([store.load(ids), store.load(ids.slice(0, 10))])
    expect(sent).toHaveLength(8)
    // The epoch of each shard comes with it.
    expect(sent.flatMap(({ args }) => args)).toHaveLength(300 + 8)
  })
})

interface Sent {
  name: string
  args: readonly RedisArgument[]
}

/** A store on a client that takes notes, and does something before it lets a script go to a shard. */
function tapped(
  client: RedisClient,
  options: { shards?: number; before?: (shard: number) => Promise<void> } = {},
): { store: PresenceStore; sent: Sent[] } {
  const sent: Sent[] = []
  const tap: RedisClient = {
    isCluster: client.isCluster,
    send(name, args) {
      sent.push({ name, args })
      return client.send(name, args)
    },
    async run(script: RedisScript, key, args) {
      sent.push({ name: 'script', args })
      await options.before?.(Number(/\{s(\d+)\}/.exec(key)?.[1]))
      return client.run(script, key, args)
    },
  }
  const store = createRedisStore({ client: tap, clock, shards: options.shards ?? 64, prefix: newPrefix() })
  return { store, sent }
}
