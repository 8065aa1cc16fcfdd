// Editing contact lists while the store or the archive fails. A refused edit was not begun; an edit that was
// written, or may have been, is notified. On the real tracker, store and archive.
import { beforeEach, expect, test } from 'bun:test'
import { createPipeline, type Pipeline } from '../../../../../testing/worlds/presence-pipeline.ts'
import { Unavailable } from '../unavailable.ts'
import { type ContactChangeNotifier, createContactChangeNotifier } from './contact-change-notifier.ts'
import { type Contacts, createContacts } from './contacts.ts'

const PAUSE_MS = 500

let world: Pipeline
let notifier: ContactChangeNotifier
let contacts: Contacts
let isStoreAway: boolean
let isArchiveAway: boolean
/** Runs between the write of a list and the notice of it. */
let whenWritten: () => void
let commits: number

beforeEach(async () => {
  ;[isStoreAway, isArchiveAway, commits] = [false, false, 0]
  whenWritten = () => {}
  const orFail = <T>(isAway: boolean, work: () => Promise<T>): Promise<T> =>
    isAway ? Promise.reject(new Error('it is away')) : work()
  world = await createPipeline({
    store: (memory) => ({
      load: (userIds) => orFail(isStoreAway, () => memory.load(userIds)),
      commit(changes) {
        commits++
        return orFail(isStoreAway, () => memory.commit(changes))
      },
    }),
    archive: (sqlite) => ({
      ping: () => orFail(isArchiveAway, sqlite.ping),
      async removeContacts(ownerId, ids) {
        await sqlite.removeContacts(ownerId, ids)
        whenWritten()
        // It is written, and the answer is lost.
        if (isArchiveAway) throw new Error('it is away')
      },
    }),
  })
  const { usedArchive: archive, tracker, store, clock, logger } = world
  notifier = createContactChangeNotifier({ archive, tracker, clock, logger })
  contacts = createContacts({ archive, store, notifier, clock })
  await done(contacts.replace('bob', ['alice', 'carol']))
})

const done = <T>(work: Promise<T>): Promise<T> => world.done(work)
const wait = (pauses: number) => world.clock.advance(pauses * PAUSE_MS)
/** Messages of the log about notices. */
const lines = () => world.lines.filter((line) => line.includes('notices'))

/** The edition of the list that gateways go by. */
const edition = async (ownerId: string) => (await world.stored(ownerId))?.contactsAt ?? null

test('[W2] without the store nothing is edited', async () => {
  isStoreAway = true
  await expect(done(contacts.remove('bob', ['alice']))).rejects.toBeInstanceOf(Unavailable)
  await wait(1)
  expect(await done(contacts.list('bob'))).toBe('["alice","carol"]')
})

test('[W2, S5] a written edit is notified until the store takes it, and logged once', async () => {
  const before = await edition('bob')
  whenWritten = () => {
    isStoreAway = true
  }
  await done(contacts.remove('bob', ['alice']))
  await wait(20)
  expect(lines()).toHaveLength(1)
  isStoreAway = false
  expect(await edition('bob')).toBe(before)
  await wait(1)
  expect(await edition('bob')).toBeGreaterThan(before!)
  expect(lines()).toHaveLength(2)
  await wait(1)
  expect(world.clock.timerCount()).toBe(0)
})

test('[W2, S5] a list that is edited many times meanwhile is notified once', async () => {
  whenWritten = () => {
    isStoreAway = true
  }
  await done(Promise.all(['alice', 'carol', 'dave'].map((id) => contacts.remove('bob', [id]))))
  isStoreAway = false
  await wait(1)
  const after = await edition('bob')
  const before = commits
  await wait(10)
  expect([await edition('bob'), commits]).toEqual([after, before])
})

test('[W2, S5] an edit whose answer was lost counts as written once the archive answers again', async () => {
  const before = await edition('bob')
  isArchiveAway = true
  await expect(done(contacts.remove('bob', ['alice']))).rejects.toBeInstanceOf(Unavailable)
  // A notice now would only hide bob from his contacts, because lists cannot be read.
  await wait(20)
  expect(await edition('bob')).toBe(before)
  isArchiveAway = false
  await wait(2)
  expect(await edition('bob')).toBeGreaterThan(before!)
  expect(world.clock.timerCount()).toBe(0)
})

test('[W2] no more lists are edited when very many notices wait', async () => {
  isStoreAway = true
  await done(notifier.notify(Array.from({ length: 50_000 }, (_, n) => `user-${n}`)))
  isStoreAway = false
  await expect(done(contacts.remove('bob', ['alice']))).rejects.toBeInstanceOf(Unavailable)
  expect(await done(contacts.list('bob'))).toBe('["alice","carol"]')
  await wait(1)
  await done(contacts.remove('bob', ['alice']))
  expect(await edition('user-49999')).not.toBeNull()
})

test('[W2] stop tries a last time', async () => {
  const before = await edition('bob')
  whenWritten = () => {
    isStoreAway = true
  }
  await done(contacts.remove('bob', ['alice']))
  isStoreAway = false
  await done(notifier.stop())
  const after = await edition('bob')
  expect(after).toBeGreaterThan(before!)
  await wait(10)
  expect([await edition('bob'), world.clock.timerCount()]).toEqual([after, 0])
})

test('[W2] nothing is tried after stop', async () => {
  await done(notifier.stop())
  const before = await edition('bob')
  whenWritten = () => {
    isStoreAway = true
  }
  await done(contacts.remove('bob', ['alice']))
  isStoreAway = false
  await wait(10)
  expect([await edition('bob'), world.clock.timerCount()]).toEqual([before, 0])
})
