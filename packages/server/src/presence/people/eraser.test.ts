// Erasing somebody while others write: their lists keep what was put on them meanwhile, and a row of the
// person that was on its way to the database does not outlive them. The real eraser, tracker, store and
// archive, under a clock that stands still.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock, untilDone } from '../../../../../testing/fake-clock.ts'
import { OPEN_RULES as rules, SOME_INSTANT } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createMemoryBus } from '../../bus/memory.ts'
import type { BusMessage } from '../../bus/port.ts'
import { createLogger } from '../../platform/logger.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { PresenceStore } from '../../store/port.ts'
import { POLICIES } from '../core/policy.ts'
import type { Privacy } from '../core/privacy.ts'
import { createAnnouncer } from '../pipeline/announcer.ts'
import { createArchivist } from '../pipeline/archivist.ts'
import { createTracker, type Tracker } from '../pipeline/tracker.ts'
import { createReader } from '../reading/reader.ts'
import { createRecall } from '../reading/recall.ts'
import { Unavailable } from '../unavailable.ts'
import { createContactChangeNotifier } from './contact-change-notifier.ts'
import { createEraser, type Eraser } from './eraser.ts'
import { createPersonExport, type PersonExport } from './person-export.ts'

/** Versions count from 2025 on, so nothing here happens before. */
const NOW = SOME_INSTANT + 50_000_000_000
const SECOND_ROUND_MS = 10_000
const FINISH_PAUSE_MS = 1_000
const MARK_MS = 60_000
const HOUR_MS = 3_600_000
const policy = POLICIES.instant
const logger = createLogger({ level: 'silent' })

let clock: FakeClock
let archive: Archive
let tracker: Tracker
let eraser: Eraser
let exportPerson: PersonExport
/** Done once, right after the archive has said who names somebody. */
let whenListed: () => Promise<unknown>
/** While set, rows wait for it on their way to the database. */
let gate: Promise<void> | null
let store: PresenceStore
let isArchiveAway: boolean
/** The archive forgets people, and nobody hears that it has. */
let isErasureUnanswered: boolean
/** The same of commits to the store. */
let isAnswerLost: boolean
let heard: BusMessage[]

beforeEach(async () => {
  clock = createFakeClock(NOW)
  ;[whenListed, gate] = [async () => {}, null]
  ;[isArchiveAway, isErasureUnanswered, isAnswerLost, heard] = [false, false, false, []]
  archive = await createSqliteArchive({ path: ':memory:', clock })
  await done(archive.migrate())
  const meanwhile = async <T>(listed: Promise<T>): Promise<T> => {
    const found = await listed
    const run = whenListed
    whenListed = async () => {}
    await run()
    return found
  }
  const busy: Archive = {
    ...archive,
    namedBy: (userId, after, limit) => meanwhile(archive.namedBy(userId, after, limit)),
    ownersOf: (userId, after, limit) => meanwhile(archive.ownersOf(userId, after, limit)),
    async ping() {
      if (isArchiveAway) throw new Error('the archive is away')
    },
    async erase(userId) {
      if (isArchiveAway) throw new Error('the archive is away')
      await archive.erase(userId)
      if (isErasureUnanswered) throw new Error('the answer was lost')
    },
    async eraseRows(userId) {
      if (isArchiveAway) throw new Error('the archive is away')
      await archive.eraseRows(userId)
    },
    async writeSettings(rows) {
      await gate
      return archive.writeSettings(rows)
    },
  }
  const memory = createMemoryStore()
  store = {
    ...memory,
    async commit(changes) {
      const results = await memory.commit(changes)
      if (isAnswerLost) throw new Error('the answer was lost')
      return results
    },
  }
  const bus = createMemoryBus()
  await bus.subscribe('g', (messages) => void heard.push(...messages))
  const recall = createRecall(busy, clock, logger)
  const archivist = createArchivist(busy, clock, logger)
  const announcer = createAnnouncer({ bus, archivist, policy, rules })
  tracker = createTracker({ store, recall, announcer, policy, clock, logger })
  const reader = createReader({
    store,
    loadForQuery: store.load,
    recall,
    policy,
    rules,
    clock,
    logger,
    cacheMs: 0,
    tick: () => {},
    isPending: () => false,
  })
  const news = createContactChangeNotifier({ archive: busy, tracker, clock, logger })
  eraser = createEraser({ store, archive: busy, archivist, tracker, notifier, reader, bus, clock, logger })
  exportPerson = createPersonExport({ archive: busy, reader, policy, rules, clock })
})
afterEach(async () => {
  eraser.stop()
  await done(archive.close())
})

const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)

let stamp = NOW
const choose = (userId: string, change: Partial<Privacy>) =>
  tracker.apply(userId, { type: 'set_privacy', at: ++stamp, change })

test('[X6] what somebody puts on their allow list during the erasure stays on it', async () => {
  await done(choose('bob', { allow: ['anna', 'zoe'] }))
  whenListed = () => choose('bob', { allow: ['anna', 'zoe', 'carol'], statusVisibility: 'contacts' })
  await done(eraser.erase('anna'))
  const [bob] = await done(archive.read(['bob']))
  expect(bob!.settings!.privacy).toMatchObject({ allow: ['zoe', 'carol'], statusVisibility: 'contacts' })
})

test('[X6] and so do contacts, whoever is added or taken off meanwhile', async () => {
  await done(archive.addContacts('bob', ['anna', 'carol', 'zoe'], NOW))
  whenListed = async () => {
    await archive.addContacts('bob', ['dave'], NOW)
    await archive.removeContacts('bob', ['carol'])
  }
  await done(eraser.erase('anna'))
  expect(await done(archive.contactsOf('bob'))).toEqual(['dave', 'zoe'])
})

test('[X6] a row that was on its way to the database is not left behind', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  const chosen = choose('anna', { deny: ['mallory'] })
  await clock.advance(0)
  const erased = eraser.erase('anna')
  await clock.advance(0)
  gate = null
  resolve()
  await done(Promise.all([chosen, erased]))
  expect(await done(archive.read(['anna']))).toEqual([{ lastSeen: null, settings: null }])
})

test('[X6] nor is one that another process wrote a moment later', async () => {
  await done(eraser.erase('anna'))
  await done(
    archive.writeSettings([
      { userId: 'anna', availability: null, customStatus: null, awayAfter: null, privacy: null },
    ]),
  )
  await clock.advance(SECOND_ROUND_MS)
  expect(await done(archive.read(['anna']))).toEqual([{ lastSeen: null, settings: null }])
})

/** What the store holds of somebody after it was allowed to forget. */
async function held(userId: string) {
  await done(store.forget(clock.now(), 1_000))
  return (await done(store.load([userId])))[0]?.record ?? null
}

const nobody = [{ lastSeen: null, settings: null }]

test('[X6] what the archive failed to forget stays hidden until it has, however long that takes', async () => {
  await done(choose('anna', { deny: ['mallory'] }))
  whenListed = async () => {
    isArchiveAway = true
  }
  const refused = await done(eraser.erase('anna')).catch((error) => error)
  expect(refused).toBeInstanceOf(Unavailable)
  expect(refused.advice).toMatch(/goes on by itself/)
  await clock.advance(HOUR_MS)
  expect(await held('anna')).toMatchObject({ privacy: null })
  expect(await done(archive.read(['anna']))).not.toEqual(nobody)
  isArchiveAway = false
  await clock.advance(FINISH_PAUSE_MS)
  expect(await done(archive.read(['anna']))).toEqual(nobody)
  expect(await held('anna')).not.toBeNull()
  await clock.advance(MARK_MS + 1)
  expect(await held('anna')).toBeNull()
})

test('[X6] without the archive nothing is begun', async () => {
  await done(choose('anna', { deny: ['mallory'] }))
  isArchiveAway = true
  const refused = await done(eraser.erase('anna')).catch((error) => error)
  expect(refused.advice).toMatch(/^nothing was erased/)
  isArchiveAway = false
  await clock.advance(HOUR_MS)
  expect(await held('anna')).toMatchObject({ privacy: { deny: ['mallory'] } })
})

test('[X6] those who had them on their lists are told, though it is not known that the lists were changed', async () => {
  await done(archive.addContacts('bob', ['anna'], NOW))
  isErasureUnanswered = true
  expect(done(eraser.erase('anna'))).rejects.toBeInstanceOf(Unavailable)
  await clock.advance(0)
  expect(await held('bob')).toBeNull()
  isErasureUnanswered = false
  await clock.advance(FINISH_PAUSE_MS)
  expect(await held('bob')).toMatchObject({ contactsAt: expect.any(Number) })
})

test('[X6] a mark whose setting was not answered is told of, and the rest is done', async () => {
  await done(store.openLease('g', clock.now() + HOUR_MS))
  await done(choose('anna', { deny: ['mallory'] }))
  isAnswerLost = true
  expect(done(eraser.erase('anna'))).rejects.toBeInstanceOf(Unavailable)
  await clock.advance(0)
  isAnswerLost = false
  await clock.advance(FINISH_PAUSE_MS)
  expect(heard).toContainEqual(expect.objectContaining({ kind: 'erased', userId: 'anna' }))
  expect(await done(archive.read(['anna']))).toEqual(nobody)
})

test('[X6] a second round that fails is made later', async () => {
  await done(eraser.erase('anna'))
  await done(
    archive.writeSettings([
      { userId: 'anna', availability: null, customStatus: null, awayAfter: null, privacy: null },
    ]),
  )
  isArchiveAway = true
  await clock.advance(SECOND_ROUND_MS)
  expect(await done(archive.read(['anna']))).not.toEqual(nobody)
  isArchiveAway = false
  await clock.advance(SECOND_ROUND_MS)
  expect(await done(archive.read(['anna']))).toEqual(nobody)
  expect(clock.timerCount()).toBe(0)
})

test('[X6, S6] an export does not tell who denies or allows the person', async () => {
  await done(choose('mallory', { statusVisibility: 'contacts' }))
  await done(archive.addContacts('carol', ['mallory'], NOW))
  const before = await done(exportPerson('mallory'))
  await done(choose('bob', { deny: ['mallory'] }))
  await done(choose('zoe', { allow: ['mallory'], deny: ['mallory'] }))
  expect(await done(exportPerson('mallory'))).toBe(before)
  expect(JSON.parse(before)).toMatchObject({ contact_of: ['carol'] })
})
