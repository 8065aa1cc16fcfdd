// What becomes of the store when Redis does not. Commits are acknowledged or rejected, never left
// hanging, and the same store works again by itself as soon as Redis does.
import { describe, expect, test } from 'bun:test'
import { createLookout } from '../../../../testing/clients/lookout.ts'
import {
  isSkipped,
  newPrefix,
  reason,
  useRedis,
  useRedisCluster,
} from '../../../../testing/contracts/redis-under-test.ts'
import { until, WAIT_MS } from '../../../../testing/services/within.ts'
import { aCommit, aRecordOn, SOME_INSTANT as T } from '../../../../testing/worlds/records.ts'
import { systemClock as clock } from '../platform/clock.ts'
import type { PresenceStore } from './port.ts'
import { createRedisStore } from './redis.ts'

describe.skipIf(isSkipped)(`redis store without its server${reason}`, () => {
  const { server, connection } = useRedis()

  test('[C7] a server that is gone rejects, and one that is back empty is used again', async () => {
    const store = createRedisStore({ client: connection(), clock, prefix: newPrefix() })
    await store.openLease('g1', T)
    const [before] = await store.commit([aCommit('a', { record: aRecordOn('g1'), dueAt: T })])

    await server().kill('SIGKILL')
    for (const call of everyCall(store)) await expect(call()).rejects.toThrow()

    await server().restart({ keepData: false })
    await until(WAIT_MS, 'using the new server', () => answers(store))
    expect(await store.load(['a'])).toEqual([null])
    expect(await store.renewLease('g1', T + 10)).toBe(false)
    expect(await store.usersOf('g1')).toEqual([])
    const [after] = await store.commit([aCommit('a')])
    expect(revisionOf(after)).toBeGreaterThan(revisionOf(before))
  })

  test('[C7] while a server hangs calls are rejected, and it answers again afterwards', async () => {
    const store = createRedisStore({ client: connection(), clock, prefix: newPrefix() })
    await store.commit([aCommit('a')])
    await server().kill('SIGSTOP')
    try {
      const calls = everyCall(store).map((call) => call().then(() => 'answered', String))
      expect(await Promise.all(calls)).not.toContain('answered')
    } finally {
      await server().kill('SIGCONT')
    }
    await until(WAIT_MS, 'using the server again', () => answers(store))
    expect(await store.load(['a'])).not.toEqual([null])
  })
})

describe.skipIf(isSkipped)(`redis store during a failover${reason}`, () => {
  const { server, connection } = useRedisCluster()

  test('[C7] every commit is acknowledged or rejected, and the store goes on by itself', async () => {
    const store = createRedisStore({ client: connection(), clock, prefix: newPrefix() })
    const writer = startWriting(store)
    await writer.wholeRounds(20)

    await server().failover(0)
    await writer.wholeRounds(1)
    await writer.stop()
    expect(writer.failed()).toBeGreaterThan(0)
    // No user's revision ever went back, whatever the new master had missed.
    expect(writer.wentBack()).toEqual([])
    expect((await store.load(writer.users)).every((one) => one !== null)).toBe(true)
  })
})

const answers = (store: PresenceStore): Promise<boolean> =>
  store.time().then(
    () => true,
    () => false,
  )

const revisionOf = (result: Awaited<ReturnType<PresenceStore['commit']>>[number] | undefined): number =>
  result?.outcome === 'committed' ? result.revision : Number.NaN

function everyCall(store: PresenceStore): (() => Promise<unknown>)[] {
  return [
    () => store.time(),
    () => store.load(['a']),
    () => store.commit([aCommit('b')]),
    () => store.due(0, T, 10),
    () => store.forget(T, 10),
    () => store.addInterest('g1', ['a']),
    () => store.removeInterest('g1', ['a']),
    () => store.openLease('g9', T),
    () => store.renewLease('g1', T),
    () => store.retireGateway('g9', T),
    () => store.liveLeases(T),
    () => store.lostGateways(T),
    () => store.dropGateway('g9'),
    () => store.usersOf('g1'),
    () => store.countByStatus(),
  ]
}

/** Commits users on every shard repeatedly, and loads a user again after a failure. */
function startWriting(store: PresenceStore) {
  const users = Array.from({ length: 200 }, (_, index) => `user-${index}`)
  const known = new Map<string, number>()
  const wentBack: string[] = []
  /** For each round that is over, whether it committed all users. */
  const rounds: boolean[] = []
  const lookout = createLookout()
  let isStopping = false

  async function commitAll(): Promise<boolean> {
    const commits = users.map((id) => aCommit(id, { expectedRevision: known.get(id) ?? 0 }))
    const results = await store.commit(commits)
    for (const [index, result] of results.entries()) {
      const userId = users[index]!
      if (result.outcome === 'conflict') continue
      if (result.revision <= (known.get(userId) ?? 0)) wentBack.push(userId)
      known.set(userId, result.revision)
    }
    if (results.every(({ outcome }) => outcome === 'committed')) return true
    const loaded = await store.load(users)
    for (const [index, one] of loaded.entries()) known.set(users[index]!, one?.revision ?? 0)
    return false
  }

  const writing = (async () => {
    while (!isStopping) {
      rounds.push(await commitAll().catch(() => false))
      lookout.notify()
      // Rejections that come at once must not keep the loop from hearing of the new master.
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()

  return {
    users,
    failed: () => rounds.filter((isWhole) => !isWhole).length,
    wentBack: () => wentBack,
    /** Resolves once so many of the rounds from now on have committed every user. */
    async wholeRounds(count: number): Promise<void> {
      // The one under way began before.
      const from = rounds.length + 1
      const isEnough = () => rounds.slice(from).filter((isWhole) => isWhole).length >= count
      await lookout.until(
        WAIT_MS,
        () => isEnough() || undefined,
        () => `no ${count} commits of all users`,
      )
    },
    async stop(): Promise<void> {
      isStopping = true
      await writing
    },
  }
}
