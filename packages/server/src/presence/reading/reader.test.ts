// What a reading costs must not tell whom it found: hidden people, people who are away and people nobody
// has heard of are asked about in the archive alike, once a minute. With the real store and archive; only
// how often the archive is asked, and whether it answers, is looked at and decided here.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../../testing/fake-clock.ts'
import { SOME_INSTANT as NOW, OPEN_RULES } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createLogger } from '../../platform/logger.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { PresenceStore } from '../../store/port.ts'
import { POLICIES } from '../core/policy.ts'
import { NO_PRIVACY_CHOSEN, type PrivacyRules } from '../core/privacy.ts'
import { emptyRecord, type UserRecord } from '../core/record.ts'
import { toLastSeenRow, toSettingsRow } from './hydrate.ts'
import { createReader, type Reader } from './reader.ts'
import { createRecall } from './recall.ts'

const LOOK_HOLDS_MS = 60_000
const ASK_AGAIN_MS = 1_000
const logger = createLogger({ level: 'silent' })

let clock: FakeClock
let store: PresenceStore
let archive: Archive
let reader: Reader
/** Whom the archive was asked about, question by question. */
let asked: string[][]
let isAway: boolean

async function begin(rules: PrivacyRules = OPEN_RULES, cacheMs = 0): Promise<void> {
  const counting: Archive = {
    ...archive,
    read(userIds) {
      asked.push([...userIds])
      return isAway ? Promise.reject(new Error('the database is gone')) : archive.read(userIds)
    },
  }
  reader = createReader({
    store,
    loadForQuery: store.load,
    recall: createRecall(counting, clock, logger),
    policy: POLICIES.instant,
    rules,
    clock,
    logger,
    cacheMs,
    tick: () => {},
    isPending: () => false,
  })
}

beforeEach(async () => {
  clock = createFakeClock(NOW)
  ;[asked, isAway] = [[], false]
  store = createMemoryStore()
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  await put('viewer', HERE)
  await begin()
})
afterEach(() => archive.close())

const HERE: UserRecord = {
  ...emptyRecord(7),
  lastSeen: NOW,
  shown: { status: 'online', since: NOW, lastSeen: NOW, customStatus: null, devices: ['web'] },
}
const AWAY: UserRecord = { ...HERE, shown: { ...HERE.shown, status: 'offline', devices: [] } }
const HIDDEN: UserRecord = {
  ...HERE,
  privacy: { ...NO_PRIVACY_CHOSEN, statusVisibility: 'nobody', setAt: NOW },
}

async function put(userId: string, record: UserRecord): Promise<void> {
  const [stored] = await store.load([userId])
  const expectedRevision = stored?.revision ?? 0
  await store.commit([{ userId, expectedRevision, record, dueAt: null, retainUntil: null }])
}

describe('the archive is asked', () => {
  test('[S6] about those who hide or are away as about those nobody has heard of, in one question', async () => {
    await put('here', HERE)
    await put('hidden', HIDDEN)
    await put('away', AWAY)
    const { records } = await reader.read(['here', 'hidden', 'away', 'nobody'], 'viewer')
    expect(records).toEqual([HERE, HIDDEN, AWAY, null])
    expect(asked).toEqual([['hidden', 'away', 'nobody']])
  })

  test('[S6] once a minute, by queries and watches together, and what is answered meanwhile is true', async () => {
    await put('hidden', HIDDEN)
    await reader.query(['hidden', 'nobody'], null)
    await clock.advance(LOOK_HOLDS_MS - 1)
    await reader.read(['hidden', 'nobody'], 'viewer')
    expect(asked).toHaveLength(1)
    await put('nobody', HERE)
    expect((await reader.read(['nobody'], 'viewer')).records).toEqual([HERE])
    await clock.advance(1)
    await reader.read(['hidden'], 'viewer')
    expect(asked).toEqual([['hidden', 'nobody'], ['hidden']])
  })

  test('[S6] no sooner because they changed', async () => {
    await put('hidden', HIDDEN)
    await reader.read(['hidden'], 'viewer')
    reader.forget('hidden')
    await reader.read(['hidden'], 'viewer')
    expect(asked).toHaveLength(1)
  })

  test('[S2] no sooner once the hot store has forgotten them, and they are still known', async () => {
    await put('away', AWAY)
    await reader.read(['away'], 'viewer')
    const { load } = store
    store.load = (userIds) => load(userIds.map((userId) => (userId === 'away' ? 'forgotten' : userId)))
    expect((await reader.read(['away'], 'viewer')).records).toEqual([AWAY])
    // Of somebody who changed since, nobody knows but the archive.
    reader.forget('away')
    expect((await reader.read(['away'], 'viewer')).records).toEqual([null])
    expect(asked).toHaveLength(2)
  })

  test('[S6] about everybody where nobody is open by default', async () => {
    await begin({ defaultVisibility: 'contacts', hiddenAs: 'offline' }, 5_000)
    await put('here', HERE)
    await reader.query(['here'], null)
    expect(asked).toEqual([['here']])
  })

  test('[S6] each time by those who hide, and nobody can tell from it that they looked', async () => {
    await put('spy', HIDDEN)
    await put('away', AWAY)
    for (const _ of [1, 2]) await reader.read(['away', 'nobody'], 'spy')
    await reader.query(['away', 'nobody'], 'spy')
    await reader.read(['away', 'nobody'], 'viewer')
    expect(asked).toEqual(Array(4).fill(['away', 'nobody']))
  })

  test('[S6] apart, for what is their own: it says nothing to others, and others nothing to them', async () => {
    await reader.readOwn('nobody')
    await reader.read(['nobody'], 'viewer')
    await reader.readOwn('nobody')
    expect(asked).toEqual([['nobody'], ['nobody']])
    await reader.readAnew(['nobody'])
    expect(asked).toHaveLength(3)
  })
})

describe('whom only the archive knows', () => {
  const isHot = async (userId: string) => (await store.load([userId]))[0] !== null
  const LUNCH = { text: 'lunch', emoji: null, expiresAt: null }

  test('[R2] is kept hot for a minute from the first look, and no longer', async () => {
    await archive.writeLastSeen([toLastSeenRow('away', AWAY, NOW)])
    for (const look of [() => reader.read(['away'], 'viewer'), () => reader.query(['away'], null)]) {
      expect(await isHot('away')).toBe(false)
      expect((await look()).records[0]?.shown.lastSeen).toBe(NOW)
      expect(await isHot('away')).toBe(true)
      await clock.advance(LOOK_HOLDS_MS / 2)
      // Whoever is hot is read there, and is not kept for longer by it.
      await look()
      await clock.advance(LOOK_HOLDS_MS / 2)
      expect(await store.forget(clock.now(), 10)).toBe(0)
      await clock.advance(1)
      expect(await store.forget(clock.now(), 10)).toBe(1)
    }
    expect(asked).toEqual([['away'], ['away']])
  })

  test('[R2] stays hot while they have anything set', async () => {
    const away = { ...AWAY, customStatus: { ...LUNCH, setAt: NOW } }
    await archive.writeLastSeen([toLastSeenRow('away', away, NOW)])
    await archive.writeSettings([toSettingsRow('away', away)])
    await reader.read(['away'], 'viewer')
    await clock.advance(LOOK_HOLDS_MS * 1_000)
    expect(await store.forget(clock.now(), 10)).toBe(0)
    expect(await isHot('away')).toBe(true)
  })
})

test('[S6, C7] an archive that fails is left alone for a second, whoever is asked about', async () => {
  await put('hidden', HIDDEN)
  isAway = true
  expect((await reader.read(['nobody'], 'viewer')).records).toEqual([null])
  expect((await reader.read(['hidden', 'nobody'], 'viewer')).records).toEqual([HIDDEN, null])
  expect(asked).toHaveLength(1)
  await clock.advance(ASK_AGAIN_MS)
  await reader.read(['hidden'], 'viewer')
  isAway = false
  await clock.advance(ASK_AGAIN_MS)
  await reader.read(['hidden', 'nobody'], 'viewer')
  await reader.read(['hidden', 'nobody'], 'viewer')
  expect(asked).toEqual([['nobody'], ['hidden'], ['hidden', 'nobody']])
})

describe('what queries remember', () => {
  /** Whom the store is asked about from now on, question by question. */
  async function beginRemembering(): Promise<string[][]> {
    const loaded: string[][] = []
    const { load } = store
    store.load = (userIds) => {
      loaded.push([...userIds])
      return load(userIds)
    }
    await begin(OPEN_RULES, 5_000)
    return loaded
  }

  test('[S6] is not of those who hide, nor of those nobody has heard of', async () => {
    await put('here', HERE)
    await put('hidden', HIDDEN)
    const loaded = await beginRemembering()
    for (const _ of [1, 2]) await reader.query(['here', 'hidden', 'nobody'], null)
    expect(loaded).toEqual([
      ['here', 'hidden', 'nobody'],
      ['hidden', 'nobody'],
    ])
  })

  test('[S6] is not for those who hide', async () => {
    await put('here', HERE)
    await put('spy', HIDDEN)
    const loaded = await beginRemembering()
    for (const viewer of ['spy', 'viewer', 'viewer']) await reader.query(['here'], viewer)
    expect(loaded).toEqual([
      ['here', 'spy'],
      ['here', 'viewer'],
    ])
  })
})
