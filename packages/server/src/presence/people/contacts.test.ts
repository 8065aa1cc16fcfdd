// Editing contact lists while the store or the archive fails: what is refused was not begun, what was
// written is told, once or more, and what may have been written counts as written. The real tracker, store
// and archive, each of which can be made to fail, under a clock that stands still.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock, untilDone } from '../../../../../testing/fake-clock.ts'
import { SOME_INSTANT as NOW, OPEN_RULES as rules } from '../../../../../testing/records.ts'
import type { Archive } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createMemoryBus } from '../../bus/memory.ts'
import { createLogger } from '../../platform/logger.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { PresenceStore } from '../../store/port.ts'
import { POLICIES } from '../core/policy.ts'
import { createAnnouncer } from '../pipeline/announcer.ts'
import { createArchivist } from '../pipeline/archivist.ts'
import { createTracker } from '../pipeline/tracker.ts'
import { createRecall } from '../reading/recall.ts'
import { Unavailable } from '../unavailable.ts'
import { type ContactChangeNotifier, createContactChangeNotifier } from './contact-change-notifier.ts'
import { type Contacts, createContacts } from './contacts.ts'

const PAUSE_MS = 500
const policy = POLICIES.instant

let clock: FakeClock
let archive: Archive
let store: PresenceStore
let notifier: ContactChangeNotifier
let contacts: Contacts
let isStoreAway: boolean
let isArchiveAway: boolean
/** Runs between the writing of a list and the word of it. */
let whenWritten: () => void
let commits: number
let complaints: string[]

beforeEach(async () => {
  ;[isStoreAway, isArchiveAway, commits, complaints] = [false, false, 0, []]
  whenWritten = () => {}
  clock = createFakeClock(NOW)
  archive = await createSqliteArchive({ path: ':memory:', clock })
  await done(archive.migrate())
  const orFail = <T>(isAway: boolean, work: () => Promise<T>): Promise<T> =>
    isAway ? Promise.reject(new Error('it is away')) : work()
  const memory = createMemoryStore()
  store = {
    ...memory,
    load: (userIds) => orFail(isStoreAway, () => memory.load(userIds)),
    commit(changes) {
      commits++
      return orFail(isStoreAway, () => memory.commit(changes))
    },
  }
  const failing: Archive = {
    ...archive,
    ping: () => orFail(isArchiveAway, archive.ping),
    async removeContacts(ownerId, ids) {
      await archive.removeContacts(ownerId, ids)
      whenWritten()
      // It is written, and the answer does not come back.
      if (isArchiveAway) throw new Error('it is away')
    },
  }
  const destination = { write: (line: string) => void complaints.push(JSON.parse(line).msg) }
  const logger = createLogger({ level: 'info', destination })
  const silent = createLogger({ level: 'silent' })
  const recall = createRecall(archive, clock, silent)
  const archivist = createArchivist(archive, clock, silent)
  const announcer = createAnnouncer({ bus: createMemoryBus(), archivist, policy, rules })
  const tracker = createTracker({ store, recall, announcer, policy, clock, logger: silent })
  news = createContactChangeNotifier({ archive: failing, tracker, clock, logger })
  contacts = createContacts({ archive: failing, store, news, clock })
  await done(contacts.replace('bob', ['alice', 'carol']))
})
afterEach(() => done(archive.close()))

const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)

/** Which edition of the list people go by. */
const edition = async (ownerId: string) => (await done(store.load([ownerId])))[0]?.record.contactsAt ?? null

test('[W2] without the store nothing is edited', async () => {
  isStoreAway = true
  expect(done(contacts.remove('bob', ['alice']))).rejects.toBeInstanceOf(Unavailable)
  await clock.advance(PAUSE_MS)
  expect(await done(contacts.list('bob'))).toBe('["alice","carol"]')
})

test('[W2][S5] what was written is told until the store takes it, and that is complained of once', async () => {
  const before = await edition('bob')
  whenWritten = () => {
    isStoreAway = true
  }
  await done(contacts.remove('bob', ['alice']))
  for (let pauses = 0; pauses < 20; pauses++) await clock.advance(PAUSE_MS)
  expect(complaints).toHaveLength(1)
  isStoreAway = false
  expect(await edition('bob')).toBe(before)
  await clock.advance(PAUSE_MS)
  expect(await edition('bob')).toBeGreaterThan(before!)
  expect(complaints).toHaveLength(2)
  await clock.advance(PAUSE_MS)
  expect(clock.timerCount()).toBe(0)
})

test('[W2][S5] however often a list is edited meanwhile, it is told once', async () => {
  whenWritten = () => {
    isStoreAway = true
  }
  await done(Promise.all(['alice', 'carol', 'dave'].map((id) => contacts.remove('bob', [id]))))
  isStoreAway = false
  await clock.advance(PAUSE_MS)
  const after = await edition('bob')
  const told = commits
  await clock.advance(10 * PAUSE_MS)
  expect([await edition('bob'), commits]).toEqual([after, told])
})

test('[W2][S5] an edit whose answer was lost counts as written, once the archive can be asked again', async () => {
  const before = await edition('bob')
  isArchiveAway = true
  expect(done(contacts.remove('bob', ['alice']))).rejects.toBeInstanceOf(Unavailable)
  // Who heard of it now would ask in vain, and lose sight of bob whether they may see him or not.
  await clock.advance(20 * PAUSE_MS)
  expect(await edition('bob')).toBe(before)
  isArchiveAway = false
  await clock.advance(2 * PAUSE_MS)
  expect(await edition('bob')).toBeGreaterThan(before!)
  expect(clock.timerCount()).toBe(0)
})

test('[W2] when very many wait to be told, no more lists are edited', async () => {
  isStoreAway = true
  await done(notifier.notify(Array.from({ length: 50_000 }, (_, n) => `person-${n}`)))
  isStoreAway = false
  expect(done(contacts.remove('bob', ['alice']))).rejects.toBeInstanceOf(Unavailable)
  expect(await done(contacts.list('bob'))).toBe('["alice","carol"]')
  await clock.advance(PAUSE_MS)
  await done(contacts.remove('bob', ['alice']))
  expect(await edition('person-49999')).not.toBeNull()
})

test('[W2] a server that stops tries a last time', async () => {
  const before = await edition('bob')
  whenWritten = () => {
    isStoreAway = true
  }
  await done(contacts.remove('bob', ['alice']))
  isStoreAway = false
  await done(news.stop())
  const after = await edition('bob')
  expect(after).toBeGreaterThan(before!)
  await clock.advance(10 * PAUSE_MS)
  expect([await edition('bob'), clock.timerCount()]).toEqual([after, 0])
})

test('[W2] and nothing happens after it', async () => {
  await done(news.stop())
  const before = await edition('bob')
  whenWritten = () => {
    isStoreAway = true
  }
  await done(contacts.remove('bob', ['alice']))
  isStoreAway = false
  await clock.advance(10 * PAUSE_MS)
  expect([await edition('bob'), clock.timerCount()]).toEqual([before, 0])
})
