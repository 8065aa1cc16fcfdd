// Reading users from the hot store, the archive and the query cache: what is asked of which, how often, and
// what is answered when one of them fails. With the real store and archive.
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  type Pipeline,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import { aRecord, aRecordOn } from '../../../../../testing/worlds/records.ts'
import type { PresenceStore } from '../../store/port.ts'
import { NO_PRIVACY_CHOSEN } from '../core/privacy.ts'
import type { UserRecord } from '../core/record.ts'
import { Unavailable } from '../unavailable.ts'
import { toLastSeenRow, toSettingsRow } from './archived-user.ts'
import { createReader } from './reader.ts'

const BACKFILL_MS = 60_000
const UNKNOWN_MS = 5_000
const ARCHIVE_PAUSE_MS = 1_000
const CACHE_MS = 5_000

let world: Pipeline
/** Users of each query to the archive. */
let lookups: string[][]
/** Users of each read of the store. */
let loads: string[][]
/** Holds reads of the archive. */
let archiveGate: Gate
/** Holds reads of the store. */
let storeGate: Gate
let isArchiveAway: boolean
let isStoreAway: boolean
let commit: PresenceStore['commit']

async function begin(cacheMs = 0): Promise<void> {
  ;[lookups, loads, archiveGate, storeGate] = [[], [], createGate(), createGate()]
  ;[isArchiveAway, isStoreAway] = [false, false]
  world = await createPipeline({
    cacheMs,
    store: (memory) => ({
      async load(userIds) {
        loads.push([...userIds])
        await storeGate.pass()
        if (isStoreAway) throw new Error('the store is gone')
        return memory.load(userIds)
      },
      commit: (commits) => commit(commits),
    }),
    archive: (sqlite) => ({
      async read(userIds) {
        lookups.push([...userIds])
        await archiveGate.pass()
        if (isArchiveAway) throw new Error('the database is gone')
        return sqlite.read(userIds)
      },
    }),
  })
  ;({ commit } = world.memory)
}

beforeEach(() => begin())

const ONLINE = aRecordOn('g1')
const GONE = aRecord({ lastSeen: 5, shown: { since: 5, lastSeen: 5 } })

async function put(userId: string, record: UserRecord): Promise<void> {
  const expectedRevision = (await world.memory.load([userId]))[0]?.revision ?? 0
  await world.memory.commit([{ userId, expectedRevision, record, dueAt: null, retainUntil: null }])
}

const archive = (userId: string, record: UserRecord) =>
  world.done(
    Promise.all([
      world.archive.writeLastSeen([toLastSeenRow(userId, record, world.clock.now())]),
      world.archive.writeSettings([toSettingsRow(userId, record)]),
    ]),
  )

const read = async (...userIds: string[]) => (await world.done(world.reader.read(userIds))).records
const query = async (...userIds: string[]) => (await world.done(world.reader.query(userIds))).records
const statuses = (records: readonly (UserRecord | null)[]) =>
  records.map((record) => record?.shown.status ?? null)

describe('the hot store', () => {
  test('[R1] is asked first; only users it does not hold are looked up, in one query, once each', async () => {
    await put('ann', ONLINE)
    await archive('bob', GONE)
    const records = await read('unknown', 'ann', 'bob', 'unknown', 'ann')
    expect(statuses(records)).toEqual([null, 'online', 'offline', null, 'online'])
    expect([loads, lookups]).toEqual([[['unknown', 'ann', 'bob', 'unknown', 'ann']], [['unknown', 'bob']]])
  })

  test('[R6] may be a replica for queries, never for reads', async () => {
    await put('ann', ONLINE)
    const behind: PresenceStore['load'] = async (userIds) =>
      userIds.map(() => ({ record: GONE, revision: 1 }))
    const reader = createReader({ ...world, loadForQuery: behind, tick: () => {}, repeat: () => {} })
    expect(statuses((await reader.query(['ann'])).records)).toEqual(['offline'])
    expect(statuses((await reader.read(['ann'])).records)).toEqual(['online'])
  })
})

describe('users without rows', () => {
  test('[R2] are not looked up again for five seconds, by reads and queries together', async () => {
    await read('unknown')
    await world.clock.advance(UNKNOWN_MS - 1)
    expect(await query('unknown')).toEqual([null])
    expect(lookups).toHaveLength(1)
    await world.clock.advance(1)
    await query('unknown')
    expect(lookups).toHaveLength(2)
  })

  test('[R2] are found at once when they come', async () => {
    await read('unknown')
    await put('unknown', ONLINE)
    expect(statuses(await read('unknown'))).toEqual(['online'])
  })
})

describe('users from the archive', () => {
  test('[R2] are kept hot for a minute from the first read, and no longer', async () => {
    await archive('bob', GONE)
    for (const look of [read, query]) {
      expect(await world.stored('bob')).toBeNull()
      expect((await look('bob'))[0]?.shown.lastSeen).toBe(5)
      expect(await world.stored('bob')).not.toBeNull()
      await world.clock.advance(BACKFILL_MS / 2)
      await look('bob')
      await world.clock.advance(BACKFILL_MS / 2)
      expect(await world.memory.forget(world.clock.now(), 10)).toBe(0)
      await world.clock.advance(1)
      expect(await world.memory.forget(world.clock.now(), 10)).toBe(1)
    }
    expect(lookups).toEqual([['bob'], ['bob']])
  })

  test('[S3] whose choice is written and not committed yet are not kept hot', async () => {
    const chosen = { text: 'lunch', emoji: null, expiresAt: null, setAt: world.clock.now() + 1 }
    await archive('bob', { ...GONE, customStatus: chosen })
    expect((await read('bob'))[0]?.shown.customStatus).toBeNull()
    expect(await world.stored('bob')).toBeNull()
    // Its process finds that it changes something.
    await world.watch('bob')
    const event = { type: 'set_custom_status', at: chosen.setAt, text: 'lunch', emoji: null } as const
    const [before] = await world.done(world.lookup.loadOrFail(['bob']))
    const unchosen = { ...before!, record: { ...before!.record, customStatus: null } }
    await world.done(world.tracker.applyTo(unchosen, 'bob', { ...event, expiresAt: null }))
    expect(world.changes()).toMatchObject([{ custom_status: { text: 'lunch' } }])
  })

  test('[R2, S3] whose choice is in the row are kept hot, also when its stamp is later than the row', async () => {
    const lunch = { text: 'lunch', emoji: null, expiresAt: world.clock.now() + 1_000 }
    const shown = { ...GONE.shown, customStatus: lunch }
    // The second choice in a millisecond.
    const customStatus = { ...lunch, setAt: world.clock.now() + 1 }
    await archive('bob', { ...GONE, shown, customStatus })
    await world.watch('bob')
    await read('bob')
    expect(await world.stored('bob')).not.toBeNull()
    expect(await world.memory.due(world.memory.shardOf('bob'), lunch.expiresAt, 10)).toMatchObject([
      { userId: 'bob', dueAt: lunch.expiresAt },
    ])
  })

  test('[S2, S3] who chose a custom status while invisible are kept hot until it is shown', async () => {
    const until = world.clock.now() + 1_000
    const availability = { status: 'invisible' as const, expiresAt: until, setAt: GONE.settledAt }
    const customStatus = { text: 'lunch', emoji: null, expiresAt: null, setAt: world.clock.now() + 1 }
    await archive('bob', { ...GONE, availability, customStatus })
    await world.watch('bob')
    await read('bob')
    expect(await world.memory.due(world.memory.shardOf('bob'), until, 10)).toMatchObject([
      { userId: 'bob', dueAt: until },
    ])
  })

  test('[R2] leave the hot store whatever they chose, and are read back with it', async () => {
    const privacy = { ...NO_PRIVACY_CHOSEN, statusVisibility: 'nobody' as const, setAt: 1 }
    await archive('bob', { ...GONE, privacy })
    await read('bob')
    await world.clock.advance(BACKFILL_MS + 1)
    expect(await world.memory.forget(world.clock.now(), 10)).toBe(1)
    expect((await read('bob'))[0]?.privacy).toEqual(privacy)
  })

  test('[S4] whose row says that they are here, and whom no gateway announced, get a row that says they are gone', async () => {
    await archive('bob', { ...ONLINE, lastSeen: 5, shown: { ...ONLINE.shown, lastSeen: 5 } })
    expect(statuses(await read('bob'))).toEqual(['offline'])
    await world.clock.advance(1_000)
    const [row] = await world.done(world.archive.read(['bob']))
    expect(row?.lastSeen).toMatchObject({ status: 'offline', devices: [] })
    expect(row?.lastSeen?.version).toBe((await world.stored('bob'))!.version)
  })

  test('[P21] whose custom status expired are answered without it, and the tracker is asked to say so', async () => {
    const expiresAt = world.clock.now() + 1_000
    const lunch = { text: 'lunch', emoji: null, expiresAt }
    await archive('bob', {
      ...GONE,
      customStatus: { ...lunch, setAt: 1 },
      shown: { ...GONE.shown, customStatus: lunch },
    })
    await world.clock.advance(1_000)
    expect((await read('bob'))[0]?.shown.customStatus).toBeNull()
    expect(world.ticked).toEqual(['bob'])
    expect(await world.stored('bob')).toBeNull()
  })

  test('[W9] that connected meanwhile are answered as the store has them', async () => {
    await archive('bob', GONE)
    archiveGate.close()
    const answer = world.reader.read(['bob', 'ann'])
    await world.clock.advance(0)
    await put('bob', ONLINE)
    archiveGate.open()
    expect(statuses((await world.done(answer)).records)).toEqual(['online', null])
    expect(await world.stored('bob')).toEqual(ONLINE)
  })

  test('[R3] that connected meanwhile are answered from the archive when the store fails then', async () => {
    await archive('bob', GONE)
    commit = async (commits) => {
      isStoreAway = true
      return commits.map(() => ({ outcome: 'conflict' }))
    }
    expect(statuses(await read('bob'))).toEqual(['offline'])
  })

  test('[R3] that cannot be kept hot are answered all the same', async () => {
    await archive('bob', GONE)
    commit = () => Promise.reject(new Error('the store is gone'))
    expect((await read('bob'))[0]?.shown.lastSeen).toBe(5)
  })
})

describe('without the archive', () => {
  test('[C7] reads do not wait for it for a second after it failed', async () => {
    await put('ann', ONLINE)
    await archive('bob', GONE)
    isArchiveAway = true
    expect(statuses(await read('ann', 'bob'))).toEqual(['online', null])
    await world.clock.advance(ARCHIVE_PAUSE_MS - 1)
    expect(statuses(await query('bob', 'carol'))).toEqual([null, null])
    expect(lookups).toEqual([['bob']])
    isArchiveAway = false
    await world.clock.advance(1)
    expect(statuses(await read('bob'))).toEqual(['offline'])
    expect(world.lines).toHaveLength(1)
  })
})

describe('users whose settings are unknown', () => {
  test('[R3, S6] are answered as degraded, like users that cannot be looked up', async () => {
    await put('bob', { ...ONLINE, settings: 'unknown' })
    await put('carol', ONLINE)
    isArchiveAway = true
    const said = async (userId: string) => {
      const { isDegraded, isUnread } = await world.reader.read([userId])
      return { isDegraded, isUnread }
    }
    expect(await said('bob')).toEqual({ isDegraded: true, isUnread: true })
    expect(await said('absent')).toEqual({ isDegraded: true, isUnread: true })
    expect(await said('carol')).toEqual({ isDegraded: false, isUnread: false })
  })
})

describe('without the hot store', () => {
  beforeEach(async () => {
    await archive('gone', GONE)
    await archive('here', { ...ONLINE, version: 9 })
    isStoreAway = true
  })

  test('[R3] the answer is what the archive knows, and says so', async () => {
    for (const look of [world.reader.read, world.reader.query]) {
      const { records, isDegraded } = await world.done(look(['gone', 'here', 'unknown']))
      expect([statuses(records), isDegraded]).toEqual([['offline', 'online', null], true])
      // Below the version that is true, which has another object.
      expect(records[1]?.version).toBe(8)
    }
    expect(world.lines).toHaveLength(1)
    isStoreAway = false
    expect((await world.done(world.reader.read(['gone']))).isDegraded).toBe(false)
  })

  test('[S1, R3] a user who chose to be busy is shown as busy', async () => {
    const busy = { status: 'busy', expiresAt: null, setAt: world.clock.now() } as const
    await archive('here', { ...ONLINE, availability: busy })
    for (const look of [world.reader.read, world.reader.query])
      expect(statuses((await world.done(look(['here']))).records)).toEqual(['busy'])
  })

  test('[S2, R3] a user who became invisible is not shown, though the row is from before', async () => {
    const invisible = { status: 'invisible', expiresAt: null, setAt: world.clock.now() } as const
    const settings = {
      availability: invisible,
      customStatus: null,
      awayAfter: null,
      privacy: null,
      history: null,
    }
    await world.done(world.archive.writeSettings([{ userId: 'here', ...settings }]))
    for (const look of [world.reader.read, world.reader.query])
      expect(statuses((await world.done(look(['here']))).records)).toEqual(['offline'])
  })

  test('[R3] and without the archive the caller is told to come again', async () => {
    isArchiveAway = true
    const failure = await world.done(world.reader.read(['gone'])).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Unavailable)
  })
})

describe('the query cache', () => {
  beforeEach(() => begin(CACHE_MS))

  test('[R6] answers repeated queries, and reads go past it', async () => {
    await put('ann', ONLINE)
    await put('bob', ONLINE)
    await query('ann')
    expect(statuses(await query('bob', 'ann', 'bob'))).toEqual(['online', 'online', 'online'])
    await query('ann', 'bob')
    await read('ann')
    expect(loads).toEqual([['ann'], ['bob', 'bob'], ['ann']])
    await world.clock.advance(CACHE_MS)
    await query('ann')
    expect(loads).toHaveLength(4)
  })

  test('[R6] an entry that is dropped while the rest is read is still answered', async () => {
    await put('ann', ONLINE)
    await put('bob', ONLINE)
    await query('ann')
    storeGate.close()
    const answer = world.reader.query(['ann', 'bob'])
    world.cache.forget('ann')
    storeGate.open()
    expect(statuses((await world.done(answer)).records)).toEqual(['online', 'online'])
  })

  test('[R3] does not keep a degraded answer', async () => {
    await archive('bob', { ...ONLINE, version: 9 })
    isStoreAway = true
    await query('bob')
    isStoreAway = false
    await put('bob', GONE)
    expect(statuses(await query('bob'))).toEqual(['offline'])
  })
})
