// The tracker while people are read from the archive: their own works keep their order, and nobody else
// notices. With the real store, archive and announcer by a clock that stands still; only when the archive
// and the store answer, and whether they do, is decided here.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../../testing/fake-clock.ts'
import { WORLD_STARTS_AT as NOW } from '../../../../../testing/gateway-world.ts'
import { OPEN_RULES } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createMemoryBus } from '../../bus/memory.ts'
import { createLogger } from '../../platform/logger.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { CommitResult, PresenceStore } from '../../store/port.ts'
import type { PresenceEvent } from '../core/event.ts'
import { POLICIES } from '../core/policy.ts'
import type { Privacy } from '../core/privacy.ts'
import type { UserRecord } from '../core/record.ts'
import { createRecall } from '../reading/recall.ts'
import { createAnnouncer } from './announcer.ts'
import { createArchivist } from './archivist.ts'
import { createTracker, type Tracker } from './tracker.ts'

const WORKS_PER_PERSON_MAX = 8
const policy = POLICIES.instant
const logger = createLogger({ level: 'silent' })

let clock: FakeClock
let archive: Archive
let store: PresenceStore
let tracker: Tracker
/** What the gateway of somebody who watches bob is told. */
let heard: { status: string; version: number }[]
/** The ends of readings that wait for `answer`; while there is no list for them the archive answers at once. */
let readings: ((how: 'well' | 'in vain') => void)[] | null
let commit: PresenceStore['commit']
let load: PresenceStore['load']

/** Also as a restart does: only the archive knows who was here before. */
async function begin(retainedMax?: number): Promise<void> {
  store = createMemoryStore(retainedMax === undefined ? {} : { retainedMax })
  ;({ commit, load } = store)
  const bus = createMemoryBus()
  await bus.subscribe('watching', (messages) => {
    for (const message of messages) if (message.kind === 'change') heard.push(JSON.parse(message.json))
  })
  await store.addInterest('watching', ['bob'])
  // What it says is what was there when it was asked.
  async function read(userIds: readonly string[]) {
    const found = await archive.read(userIds)
    if (readings === null) return found
    const { promise, resolve } = Promise.withResolvers<'well' | 'in vain'>()
    readings.push(resolve)
    if ((await promise) === 'in vain') throw new Error('the database is gone')
    return found
  }
  const archivist = createArchivist(archive, clock, logger)
  tracker = createTracker({
    store: { ...store, load: (userIds) => load(userIds), commit: (commits) => commit(commits) },
    recall: createRecall({ ...archive, read }, clock, logger),
    announcer: createAnnouncer({ bus, archivist, policy, rules: OPEN_RULES }),
    policy,
    clock,
    logger,
  })
}

beforeEach(async () => {
  clock = createFakeClock(NOW)
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  ;[heard, readings] = [[], null]
  await begin()
})
afterEach(() => archive.close())

function connected(sessionId: string): PresenceEvent {
  const at = clock.now()
  const facts = { deviceId: 'd', platform: 'web', gatewayId: 'g', connectedAt: at, lastActiveAt: at } as const
  return { type: 'connected', activity: 'active', at, sessionId, ...facts }
}
const left = (sessionId: string): PresenceEvent => ({ type: 'left', sessionId, at: clock.now() })
function says(text: string, expiresAt: number | null = null): PresenceEvent {
  return { type: 'set_custom_status', at: clock.now(), text, emoji: null, expiresAt }
}
const chooses = (change: Partial<Privacy>): PresenceEvent => ({
  type: 'set_privacy',
  at: clock.now(),
  change,
})

/** Lets all run that can, and a moment pass: nothing else happens in the same one. */
const go = () => clock.advance(1)

/** Returns what becomes of it; nothing, as long as somebody has to be waited for. */
async function apply(userId: string, ...events: PresenceEvent[]) {
  const outcome = { record: null as UserRecord | null, isRejected: false }
  tracker.apply(userId, ...events).then(
    ({ record }) => Object.assign(outcome, { record }),
    () => Object.assign(outcome, { isRejected: true }),
  )
  await go()
  return outcome
}

async function report(userId: string, event: PresenceEvent): Promise<void> {
  tracker.report(userId, event)
  await go()
}

const stored = async (userId: string) => (await store.load([userId]))[0]?.record ?? null

async function answer(at: number, how: 'well' | 'in vain' = 'well'): Promise<void> {
  readings![at]!(how)
  await go()
}

describe('somebody who is being read', () => {
  test('[P2] does not leave before they came, even when the reading ends while the store is asked', async () => {
    await apply('bob', connected('s0'))
    await apply('bob', left('s0'))
    const away = (await stored('bob'))!
    await begin()
    readings = []
    const came = await apply('bob', connected('s1'))
    // Somebody looks at bob, which keeps him hot.
    await store.commit([{ userId: 'bob', expectedRevision: 0, record: away, dueAt: null, retainUntil: null }])
    const gate = Promise.withResolvers<void>()
    load = (userIds) => gate.promise.then(() => store.load(userIds))
    await report('bob', left('s1'))
    await answer(0)
    gate.resolve()
    await go()
    expect(came.record?.sessions.map(({ id }) => id)).toEqual(['s1'])
    await answer(1)
    expect((await stored('bob'))!.sessions).toEqual([])
  })

  test('[W9] is shown with versions that never go back, whoever the store drops meanwhile', async () => {
    await begin(0)
    await apply('bob', connected('s0'))
    await apply('bob', left('s0'))
    expect(await stored('bob')).toBeNull()
    readings = []
    await report('bob', connected('s1'))
    await report('bob', left('s1'))
    await report('bob', connected('s2'))
    expect(readings).toHaveLength(3)
    for (const at of [0, 1, 2]) await answer(at)
    const first = heard[0]!.version
    expect(heard.map(({ version }) => version - first)).toEqual([0, 1, 2, 3, 4])
    expect(heard.map(({ status }) => status)).toEqual(['online', 'offline', 'online', 'offline', 'online'])
  })

  test('[P5] needs no tick: what they are read for finds out what is due', async () => {
    await apply('bob', says('lunch', NOW + 5_000))
    readings = []
    const listed = await apply('bob', { type: 'contacts_changed', at: clock.now() })
    await clock.advance(5_000)
    await report('bob', { type: 'tick' })
    expect([readings.length, tracker.depth()]).toEqual([1, 1])
    await answer(0)
    expect(listed.record?.shown.customStatus).toBeNull()
    expect(tracker.depth()).toBe(0)
  })

  test('[C7] is asked about a bounded number of times, and all that happened to them counts', async () => {
    readings = []
    for (let at = 0; at < 100; at++) await report('bob', says(`${at}`))
    expect([readings.length, tracker.depth()]).toEqual([WORKS_PER_PERSON_MAX, 1])
    for (let at = 0; at < WORKS_PER_PERSON_MAX; at++) await answer(at)
    expect((await stored('bob'))?.customStatus?.text).toBe('99')
  })
})

describe('somebody who was read in vain', () => {
  beforeEach(async () => {
    await apply('bob', chooses({ deny: ['mallory'] }))
    await begin()
    readings = []
  })

  test('[C7] is read again for what comes later, which is merged with what they chose', async () => {
    const first = await apply('bob', chooses({ reciprocal: true }))
    const second = await apply('bob', chooses({ allow: ['ann'] }))
    readings![0]!('in vain')
    await answer(1)
    expect([first.isRejected, second.isRejected]).toEqual([true, false])
    expect(second.record?.privacy).toMatchObject({ deny: ['mallory'], allow: ['ann'], reciprocal: false })
  })

  test('[C7] does not turn down what was read well', async () => {
    const came = await apply('bob', connected('s1'))
    const chose = await apply('bob', chooses({ allow: ['ann'] }))
    readings![0]!('in vain')
    await answer(1)
    expect(came.record?.shown.status).toBe('online')
    expect(chose.isRejected).toBe(false)
  })
})

describe('reading in vain turns nobody down', () => {
  test('[C7] whom the hot store has', async () => {
    await apply('bob', chooses({ deny: ['mallory'] }))
    readings = []
    const chose = await apply('bob', chooses({ allow: ['ann'] }))
    await answer(0, 'in vain')
    expect(chose.record?.privacy).toMatchObject({ deny: ['mallory'], allow: ['ann'] })
  })

  test('[C7] of whom we know what became of them meanwhile', async () => {
    await begin(0)
    readings = []
    await report('bob', connected('s1'))
    await report('bob', left('s1'))
    const chose = await apply('bob', chooses({ allow: ['ann'] }))
    for (const at of [0, 1]) await answer(at)
    expect(await stored('bob')).toBeNull()
    await answer(2, 'in vain')
    expect(chose.record).toMatchObject({ lastSeen: NOW + 1, privacy: { allow: ['ann'] } })
  })
})

test('[C7] whoever has to be read at a second attempt is not told that the batch failed', async () => {
  await apply('bob', connected('s1'))
  await apply('ann', connected('a1'))
  readings = []
  commit = async (commits) => {
    commit = () => Promise.reject(new Error('away'))
    // Another process is quicker for both, and with it bob leaves.
    const [bob] = await store.load(['bob'])
    const { record, revision } = bob!
    const gone = { ...record, sessions: [], shown: { ...record.shown, status: 'offline' as const } }
    const theirs = { userId: 'bob', record: gone, expectedRevision: revision, dueAt: null, retainUntil: null }
    await store.commit([theirs])
    return commits.map((): CommitResult => ({ outcome: 'conflict' }))
  }
  const ann = tracker.apply('ann', left('a1')).catch(() => 'failed')
  const bob = await apply('bob', says('back soon'))
  expect(await ann).toBe('failed')
  expect(bob).toEqual({ record: null, isRejected: false })
  ;({ commit } = store)
  await answer(0)
  expect(bob.record?.customStatus?.text).toBe('back soon')
})

describe('the others', () => {
  beforeEach(async () => {
    await apply('ann', connected('a1'))
    readings = []
  })

  test('[S6] are stepped while somebody is read who came in the same turn', async () => {
    tracker.report('bob', connected('s1'))
    const ann = await apply('ann', left('a1'))
    expect(ann.record?.shown.status).toBe('offline')
    expect(await stored('bob')).toBeNull()
    await answer(0)
    expect((await stored('bob'))?.shown.status).toBe('online')
  })

  test('[S6] are waited for by whoever asks; those being read only by a flush', async () => {
    const over: string[] = []
    const wait = (...ways: ('flush' | 'catchUp' | 'settle')[]) => {
      for (const way of ways) void tracker[way]().then(() => over.push(way))
      return go()
    }
    const gate = Promise.withResolvers<void>()
    load = (userIds) => gate.promise.then(() => store.load(userIds))
    tracker.report('bob', connected('s1'))
    tracker.report('ann', left('a1'))
    await wait('flush', 'catchUp', 'settle')
    expect(over).toEqual([])
    gate.resolve()
    await go()
    expect(over.splice(0)).toEqual(['catchUp', 'settle'])
    // Nothing but bob is left to wait for.
    await wait('flush', 'catchUp')
    expect(over.splice(0)).toEqual(['catchUp'])
    await wait('settle')
    expect(over.splice(0)).toEqual(['settle'])
    await answer(0)
    expect(over).toEqual(['flush', 'flush'])
    expect((await stored('bob'))?.shown.status).toBe('online')
  })

  test('[S2] what shows of somebody invisible waits for the archive; what they are does not', async () => {
    const become = (status: 'invisible' | 'auto') =>
      apply('ann', { type: 'set_availability', at: clock.now(), status, expiresAt: null })
    await become('invisible')
    const said = await apply('ann', says('hello'))
    expect(readings).toHaveLength(1)
    expect(said.record).toBeNull()
    await answer(0)
    expect(said.record?.customStatus?.text).toBe('hello')
    expect((await become('auto')).record?.shown.status).toBe('online')
    expect(readings).toHaveLength(1)
  })
})
