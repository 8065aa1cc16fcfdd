// The tracker on the real store, archive and announcer: order of events, conflicts, lost answers, users that
// must be looked up. The test decides when the store and the archive answer, and whether they do.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  type Pipeline,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import { closed, connected, left, say } from '../../../../../testing/worlds/presence-user.ts'
import type { CommitResult, PresenceStore } from '../../store/port.ts'
import type { PresenceEvent } from '../core/event.ts'
import { toLastSeenRow, toSettingsRow } from '../reading/archived-user.ts'
import { Unavailable } from '../unavailable.ts'
import { UNSTORED_REVISION } from './tracker.ts'

const REPEAT_MS = 500
const SLOW_MS = 500
const RETAIN_MS = 300_000

let world: Pipeline
/** Holds look-ups in the archive. */
let archiveGate: Gate
let lookups: string[][]
/** Replaceable parts of the store. */
let load: PresenceStore['load']
let commit: PresenceStore['commit']
let troubles: number

async function begin(options: { retainedMax?: number; earlier?: Pipeline } = {}): Promise<void> {
  ;[archiveGate, lookups, troubles] = [createGate(), [], 0]
  world = await createPipeline({
    ...options,
    store: () => ({ load: (userIds) => load(userIds), commit: (commits) => commit(commits) }),
    archive: (sqlite) => ({
      async read(userIds) {
        lookups.push([...userIds])
        const users = await sqlite.read(userIds)
        await archiveGate.pass()
        return users
      },
    }),
    onTrouble: () => void troubles++,
  })
  ;({ load, commit } = world.memory)
  await world.watch('bob')
}

/** The store is empty and the archive is not. */
const restart = () => begin({ earlier: world })

beforeEach(() => begin())

const now = () => world.clock.now()
/** Runs everything that can run, and lets a millisecond pass. */
const go = () => world.clock.advance(1)

const apply = (userId: string, ...events: PresenceEvent[]) => world.outcomeOf(userId, ...events)

async function report(userId: string, event: PresenceEvent): Promise<void> {
  world.tracker.report(userId, event)
  await go()
}

const statuses = () => world.changes().map(({ status }) => status)

describe('a batch', () => {
  test('[C7] has fewer users while the store is slow', async () => {
    const userIds = Array.from({ length: 2_000 }, (_, user) => `user-${user}`)
    for (const userId of userIds) world.tracker.report(userId, connected('web#1', now()))
    await world.done(world.tracker.flush())
    const sizes: number[] = []
    load = async (users) => {
      sizes.push(users.length)
      await world.clock.sleep(SLOW_MS + 1)
      return world.memory.load(users)
    }
    for (const userId of userIds) world.tracker.report(userId, left('web#1', now()))
    const caughtUp = world.tracker.catchUp()
    await world.clock.advance(10 * (SLOW_MS + 1))
    await caughtUp
    expect(sizes).toEqual([1_000, 500, 250, 125, 62, 50, 13])
  })

  test('[P4] holds a user once: events of one turn are one commit', async () => {
    let commits = 0
    commit = (changes) => {
      commits += changes.length
      return world.memory.commit(changes)
    }
    for (const text of ['one', 'two', 'three']) world.tracker.report('bob', say(text, now()))
    await go()
    await go()
    expect(commits).toBe(1)
    expect(world.changes()).toHaveLength(1)
  })

  test('[D9] commits nothing that did not change', async () => {
    await apply('bob', connected('web#1', now()))
    commit = () => Promise.reject(new Error('not expected'))
    const ticked = await apply('bob', { type: 'tick' })
    expect([ticked.record?.shown.status, troubles]).toEqual(['online', 0])
  })

  test('[D7] that lost to another process is loaded and stepped again', async () => {
    await apply('bob', connected('web#1', now()))
    commit = async (changes) => {
      ;({ commit } = world.memory)
      const [stored] = await world.memory.load(['bob'])
      const record = { ...stored!.record, contactsAt: 7 }
      const expectedRevision = stored!.revision
      await world.memory.commit([{ userId: 'bob', expectedRevision, record, dueAt: null, retainUntil: null }])
      return world.memory.commit(changes)
    }
    const { record } = await apply('bob', say('back soon', now()))
    expect(record).toMatchObject({ contactsAt: 7, customStatus: { text: 'back soon' } })
  })

  test('[C7] that conflicts again and again fails', async () => {
    commit = async (changes) => changes.map((): CommitResult => ({ outcome: 'conflict' }))
    const { error } = await apply('bob', say('hello', now()))
    expect(error).toBeInstanceOf(Unavailable)
  })

  test('[C7] that failed rejects its callers, reports trouble, and is logged once until one succeeds', async () => {
    load = () => Promise.reject(new Error('away'))
    const outcomes = [await apply('bob', connected('web#1', now())), await apply('ann', { type: 'tick' })]
    expect(outcomes.map(({ error }) => error instanceof Unavailable)).toEqual([true, true])
    expect([troubles, world.lines.length]).toEqual([2, 1])
    ;({ load } = world.memory)
    expect((await apply('bob', connected('web#2', now()))).record?.shown.status).toBe('online')
  })

  test.each(['rejected', 'taken for a conflict'])(
    '[C7] whose commit was %s though it went through is announced and archived',
    async (how) => {
      await apply('bob', connected('web#1', now()))
      commit = async (changes) => {
        ;({ commit } = world.memory)
        const results = await world.memory.commit(changes)
        if (how === 'rejected') throw new Error('no answer')
        return results.map((): CommitResult => ({ outcome: 'conflict' }))
      }
      await report('bob', left('web#1', now()))
      await world.clock.advance(REPEAT_MS)
      expect(statuses()).toEqual(['online', 'offline'])
      const [row] = await world.done(world.archive.read(['bob']))
      expect(row?.lastSeen?.status).toBe('offline')
    },
  )

  test('[D6, C7] that announces a user again lets no deadline pass: the user may have come back, and the store lost it', async () => {
    await apply('bob', connected('web#1', now()))
    await apply('bob', closed('web#1', now() + 1))
    await world.clock.advance(world.policy.offlineDelayMs + 1_000)
    world.heard.length = 0
    world.tracker.repeat('bob')
    await go()
    expect(world.changes()).toMatchObject([{ status: 'online' }])
    await report('bob', { type: 'tick' })
    expect(world.changes().at(-1)).toMatchObject({ status: 'offline' })
  })

  test('[R2] keeps a user who left hot for five minutes', async () => {
    await apply('bob', connected('web#1', now()))
    const leftAt = now()
    await apply('bob', left('web#1', leftAt))
    expect(await world.memory.forget(leftAt + RETAIN_MS, 10)).toBe(0)
    expect((await world.stored('bob'))?.shown.lastSeen).toBe(leftAt)
    expect(await world.memory.forget(now() + RETAIN_MS, 10)).toBe(1)
  })
})

describe('a user that is looked up', () => {
  test('[P2] does not leave before it came, even when the look-up ends while the store is read', async () => {
    await apply('bob', connected('web#0', now()))
    await apply('bob', left('web#0', now()))
    const record = (await world.stored('bob'))!
    await restart()
    archiveGate.close()
    const came = await apply('bob', connected('web#1', now()))
    // A query keeps the user hot meanwhile.
    const backfill = { userId: 'bob', expectedRevision: 0, record, dueAt: null, retainUntil: null }
    await world.memory.commit([backfill])
    const storeGate = createGate()
    storeGate.close()
    load = (userIds) => storeGate.pass().then(() => world.memory.load(userIds))
    await report('bob', left('web#1', now()))
    archiveGate.open()
    await go()
    storeGate.open()
    await go()
    await go()
    expect(came.record?.sessions).toEqual([])
    expect((await world.stored('bob'))!.tombstones.map(({ id }) => id)).toContain('web#1')
  })

  test('[C7] is looked up once, and every event counts', async () => {
    archiveGate.close()
    for (let at = 0; at < 100; at++) await report('bob', say(`${at}`, now()))
    expect([lookups, world.tracker.depth()]).toEqual([[['bob']], 1])
    archiveGate.open()
    await go()
    expect((await world.stored('bob'))?.customStatus?.text).toBe('99')
    expect(world.tracker.depth()).toBe(0)
  })

  test('[W9] continues above the versions of its row when the store has dropped it', async () => {
    await begin({ retainedMax: 0 })
    for (const session of ['web#1', 'web#2', 'web#3'] as const) {
      await apply('bob', connected(session, now()))
      await apply('bob', left(session, now()))
      expect(await world.stored('bob')).toBeNull()
    }
    expect(lookups).toHaveLength(3)
    const first = world.changes()[0]!.version
    expect(world.changes().map(({ version }) => version - first)).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('[C7] at a second attempt does not fail with the batch', async () => {
    for (const userId of ['ann', 'bob']) await apply(userId, connected('web#1', now()))
    await apply('bob', left('web#1', now()))
    archiveGate.close()
    commit = async (changes) => {
      commit = () => Promise.reject(new Error('away'))
      // The store forgets the user between two attempts.
      await world.memory.forget(now() + 2 * RETAIN_MS, 10)
      return changes.map((): CommitResult => ({ outcome: 'conflict' }))
    }
    const ann = world.tracker.apply('ann', left('web#1', now())).catch(() => 'failed')
    const bob = await apply('bob', say('back soon', now()))
    expect(await ann).toBe('failed')
    expect(bob).toEqual({ record: null, error: null })
    ;({ commit } = world.memory)
    archiveGate.open()
    await world.clock.advance(10)
    expect(bob.record?.customStatus?.text).toBe('back soon')
  })
})

describe('a user whose row says that they are here', () => {
  test('[S2, S4] and who became invisible while the store lost its memory gets a row that says they are gone', async () => {
    await apply('bob', connected('web#1', now()))
    await world.clock.advance(10)
    expect((await world.done(world.archive.read(['bob'])))[0]!.lastSeen?.status).toBe('here')
    await restart()
    const invisible = { status: 'invisible', expiresAt: null, setAt: now() } as const
    const nothing = { customStatus: null, awayAfter: null, privacy: null, history: null }
    await world.done(world.archive.writeSettings([{ userId: 'bob', availability: invisible, ...nothing }]))
    await apply('bob', connected('web#2', now()))
    await world.clock.advance(10)
    expect((await world.stored('bob'))!.shown.status).toBe('offline')
    expect((await world.done(world.archive.read(['bob'])))[0]!.lastSeen?.status).toBe('offline')
  })
})

describe('a session that is announced again', () => {
  const again = (): PresenceEvent => connected('web#1', now(), { again: { since: now(), formerIds: [] } })

  test('[C7] does not wait for the archive where the store knows the user', async () => {
    await apply('bob', connected('web#1', now()))
    archiveGate.close()
    lookups = []
    const outcome = await apply('bob', again())
    expect(outcome.record).not.toBeNull()
    expect(lookups).toEqual([['bob']])
  })

  test('[S4] is followed by newer choices from the archive', async () => {
    await apply('bob', connected('web#1', now()))
    const [older] = await world.memory.load(['bob'])
    await world.clock.advance(10)
    await apply('bob', say('newer', now()))
    const [newer] = await world.memory.load(['bob'])
    await world.archivist.settings(toSettingsRow('bob', newer!.record))
    // As a failover does that loses the last write.
    const { record } = older!
    const lost = { userId: 'bob', expectedRevision: newer!.revision, record, dueAt: null, retainUntil: null }
    await world.memory.commit([lost])
    await apply('bob', again())
    const [healed] = await world.memory.load(['bob'])
    expect(healed!.record.customStatus?.text).toBe('newer')
  })

  test('[S4, P27] gets a version above that of the row, where the store has lost that one', async () => {
    await apply('bob', connected('web#1', now()))
    const [older] = await world.memory.load(['bob'])
    const { record, revision } = older!
    await world.archive.writeLastSeen([
      toLastSeenRow('bob', { ...record, version: record.version + 2 }, now()),
    ])
    await apply('bob', again())
    await world.clock.advance(10)
    expect((await world.stored('bob'))!.version).toBe(record.version + 3)
    expect((await world.memory.load(['bob']))[0]!.revision).toBeGreaterThan(revision)
  })

  test('[S4] and so is a session that its gateway declares lost, because the user left meanwhile', async () => {
    await apply('bob', connected('web#1', now()))
    const [older] = await world.memory.load(['bob'])
    await world.clock.advance(10)
    await apply('bob', say('newer', now()))
    const [newer] = await world.memory.load(['bob'])
    await world.archivist.settings(toSettingsRow('bob', newer!.record))
    const { record } = older!
    const lost = { userId: 'bob', expectedRevision: newer!.revision, record, dueAt: null, retainUntil: null }
    await world.memory.commit([lost])
    const { gatewayId } = record.sessions[0]!
    await apply('bob', { type: 'gateway_lost', gatewayId, at: now(), provenAt: now() })
    const [healed] = await world.memory.load(['bob'])
    expect(healed!.record.customStatus?.text).toBe('newer')
  })
})

describe('other users', () => {
  beforeEach(async () => {
    await apply('ann', connected('web#1', now()))
    archiveGate.close()
  })

  test('[C7] are stepped while a user of the same batch is looked up', async () => {
    world.tracker.report('bob', connected('web#1', now()))
    const ann = await apply('ann', left('web#1', now()))
    expect(ann.record?.shown.status).toBe('offline')
    expect(await world.stored('bob')).toBeNull()
    archiveGate.open()
    await go()
    expect((await world.stored('bob'))?.shown.status).toBe('online')
  })

  test('[D3] are waited for by catchUp, which does not wait for look-ups; flush waits for both', async () => {
    const over: string[] = []
    const wait = (...ways: ('flush' | 'catchUp')[]) => {
      for (const way of ways) void world.tracker[way]().then(() => over.push(way))
      return go()
    }
    const storeGate = createGate()
    storeGate.close()
    load = (userIds) => storeGate.pass().then(() => world.memory.load(userIds))
    world.tracker.report('bob', connected('web#1', now()))
    world.tracker.report('ann', left('web#1', now()))
    await wait('flush', 'catchUp')
    expect(over).toEqual([])
    storeGate.open()
    await go()
    expect(over.splice(0)).toEqual(['catchUp'])
    // Only the look-up is left.
    await wait('flush', 'catchUp')
    expect(over.splice(0)).toEqual(['catchUp'])
    archiveGate.open()
    await go()
    expect(over.splice(0)).toEqual(['flush', 'flush'])
    await wait('flush', 'catchUp')
    expect(over).toEqual(['flush', 'catchUp'])
  })

  test('[D3] that keep coming do not hold up catchUp', async () => {
    archiveGate.open()
    let reports = 0
    load = (userIds) => {
      // Every batch brings the next one.
      if (reports < 50) world.tracker.report(`user-${reports++}`, connected('web#1', now()))
      return world.memory.load(userIds)
    }
    world.tracker.report('ann', left('web#1', now()))
    let reportsByThen = 0
    void world.tracker.catchUp().then(() => {
      reportsByThen = reports
    })
    await world.done(world.tracker.flush())
    expect(reports).toBe(50)
    expect(reportsByThen).toBeGreaterThan(0)
    expect(reportsByThen).toBeLessThan(10)
    expect((await world.stored('ann'))?.shown.status).toBe('offline')
  })
})

test('[C7] without the store an event is stepped from the archive, below every revision of a store', async () => {
  await apply('bob', say('lunch', now()))
  await restart()
  load = () => Promise.reject(new Error('away'))
  const event = connected('web#1', now())
  const { record, revision } = await world.done(world.tracker.applyWithoutStore('bob', event))
  expect(record).toMatchObject({ shown: { status: 'online' }, customStatus: { text: 'lunch' } })
  expect(revision).toBe(UNSTORED_REVISION)
  expect(await world.stored('bob')).toBeNull()
})
