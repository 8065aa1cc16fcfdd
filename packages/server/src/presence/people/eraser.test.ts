// Erasing a user while others write, and while the store or the archive fails. On the real tracker, store and
// archive.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  PIPELINE_STARTS_AT as NOW,
  type Pipeline,
  WATCHING,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import type { Privacy } from '../core/privacy.ts'
import { Unavailable } from '../unavailable.ts'
import { createContactChangeNotifier } from './contact-change-notifier.ts'
import { createEraser, type Eraser } from './eraser.ts'
import { createErasure } from './erasure.ts'
import { createHistory } from './history.ts'
import { createPersonExport, type PersonExport } from './person-export.ts'

const SECOND_ROUND_MS = 10_000
const FINISH_PAUSE_MS = 1_000
const MARK_MS = 60_000
const ABANDONED_MS = 60_000
const LOOK_EVERY_MS = 10_000
const HOUR_MS = 3_600_000
const NO_ROWS = [{ lastSeen: null, settings: null }]

let world: Pipeline
let eraser: Eraser
let exportPerson: PersonExport
/** Runs once, right after the archive has listed the users with the erased user on a list. */
let whenListed: () => Promise<unknown>
/** Holds writes of settings. */
let gate: Gate
let isArchiveAway: boolean
/** The archive erases, and its answer is lost. */
let isErasureUnanswered: boolean
/** The store commits, and its answer is lost. */
let isAnswerLost: boolean

beforeEach(async () => {
  ;[whenListed, gate] = [async () => {}, createGate()]
  ;[isArchiveAway, isErasureUnanswered, isAnswerLost] = [false, false, false]
  const meanwhile = async <T>(listed: Promise<T>): Promise<T> => {
    const found = await listed
    const run = whenListed
    whenListed = async () => {}
    await run()
    return found
  }
  const failIfAway = () => {
    if (isArchiveAway) throw new Error('the archive is away')
  }
  world = await createPipeline({
    store: (memory) => ({
      async commit(changes) {
        const results = await memory.commit(changes)
        if (isAnswerLost) throw new Error('the answer was lost')
        return results
      },
    }),
    archive: (sqlite) => ({
      namedBy: (userId, after, limit) => meanwhile(sqlite.namedBy(userId, after, limit)),
      ownersOfErased: (userId, after, limit) => meanwhile(sqlite.ownersOfErased(userId, after, limit)),
      ping: async () => failIfAway(),
      async erase(userId) {
        failIfAway()
        await sqlite.erase(userId)
        if (isErasureUnanswered) throw new Error('the answer was lost')
      },
      async eraseRows(userId) {
        failIfAway()
        await sqlite.eraseRows(userId)
      },
      async writeSettings(rows) {
        await gate.pass()
        await sqlite.writeSettings(rows)
      },
    }),
  })
  const parts = { ...world, archive: world.usedArchive }
  const notifier = createContactChangeNotifier(parts)
  eraser = createEraser({ ...parts, erasure: createErasure({ ...parts, notifier }), isStoreVolatile: true })
  exportPerson = createPersonExport({ ...parts, history: createHistory(parts) })
})
afterEach(() => eraser.stop())

const done = <T>(work: Promise<T>): Promise<T> => world.done(work)

let stamp = NOW
const choose = (userId: string, change: Partial<Privacy>) =>
  world.tracker.apply(userId, { type: 'set_privacy', at: ++stamp, change })

test('[X6] a user that is put on an allow list during the erasure stays on it', async () => {
  await done(choose('bob', { allow: ['anna', 'zoe'] }))
  whenListed = () => choose('bob', { allow: ['anna', 'zoe', 'carol'], statusVisibility: 'contacts' })
  await done(eraser.erase('anna'))
  const [bob] = await done(world.archive.read(['bob']))
  expect(bob!.settings!.privacy).toMatchObject({ allow: ['zoe', 'carol'], statusVisibility: 'contacts' })
})

test('[X6] so do contacts that are added and removed meanwhile', async () => {
  await done(world.archive.addContacts('bob', ['anna', 'carol', 'zoe'], NOW))
  whenListed = async () => {
    await world.archive.addContacts('bob', ['dave'], NOW)
    await world.archive.removeContacts('bob', ['carol'])
  }
  await done(eraser.erase('anna'))
  expect(await done(world.archive.contactsOf('bob'))).toEqual(['dave', 'zoe'])
})

test('[X6] a row that waits to be written is not left behind', async () => {
  gate.close()
  const chosen = choose('anna', { deny: ['mallory'] })
  await world.clock.advance(0)
  const erased = eraser.erase('anna')
  await world.clock.advance(0)
  gate.open()
  await done(Promise.all([chosen, erased]))
  expect(await done(world.archive.read(['anna']))).toEqual(NO_ROWS)
})

test('[X6] a row that another process writes a moment later is erased in the second round', async () => {
  await done(eraser.erase('anna'))
  await done(
    world.archive.writeSettings([
      {
        userId: 'anna',
        availability: null,
        customStatus: null,
        awayAfter: null,
        privacy: null,
        history: null,
      },
    ]),
  )
  await world.clock.advance(SECOND_ROUND_MS)
  expect(await done(world.archive.read(['anna']))).toEqual(NO_ROWS)
})

/** The record in the store, once the store has dropped what it may. */
async function held(userId: string) {
  await done(world.memory.forget(world.clock.now(), 1_000))
  return world.stored(userId)
}

const unfinished = () => done(world.archive.unfinishedErasures(Number.MAX_SAFE_INTEGER, 10))

test('[X6] rows that the archive failed to erase stay hidden until it has', async () => {
  await done(choose('anna', { deny: ['mallory'] }))
  whenListed = async () => {
    isArchiveAway = true
  }
  const refused = await done(eraser.erase('anna')).catch((error) => error)
  expect(refused).toBeInstanceOf(Unavailable)
  expect(refused.advice).toMatch(/goes on by itself/)
  await world.clock.advance(HOUR_MS)
  expect(await held('anna')).toMatchObject({ privacy: null })
  expect(await done(world.archive.read(['anna']))).toEqual(NO_ROWS)
  expect(await unfinished()).toEqual(['anna'])
  isArchiveAway = false
  await world.clock.advance(FINISH_PAUSE_MS)
  expect(await unfinished()).toEqual([])
  expect(await done(world.archive.read(['anna']))).toEqual(NO_ROWS)
  expect(await held('anna')).not.toBeNull()
  await world.clock.advance(MARK_MS + 1)
  expect(await held('anna')).toBeNull()
})

test('[X6] an erasure that a process began before it died is hidden, and finished by the next', async () => {
  await done(choose('anna', { deny: ['mallory'] }))
  await done(choose('bob', { allow: ['anna', 'zoe'] }))
  await done(world.archive.beginErasure('anna', NOW))
  expect(await done(world.archive.read(['anna']))).toEqual(NO_ROWS)
  eraser.takeOver()
  await world.clock.advance(FINISH_PAUSE_MS)
  expect(await unfinished()).toEqual([])
  expect(await done(world.archive.namedBy('mallory', '', 10))).toEqual([])
  expect(await done(world.archive.namedBy('anna', '', 10))).toEqual([])
})

test('[X6] with a shared store an erasure is taken over when no process can be at work on it', async () => {
  const parts = { ...world, archive: world.usedArchive }
  const erasure = createErasure({ ...parts, notifier: createContactChangeNotifier(parts) })
  const other = createEraser({ ...parts, erasure, isStoreVolatile: false })
  await done(world.archive.beginErasure('anna', world.clock.now()))
  other.takeOver()
  await world.clock.advance(ABANDONED_MS - 1)
  expect(await unfinished()).toEqual(['anna'])
  await world.clock.advance(2 * LOOK_EVERY_MS)
  expect(await unfinished()).toEqual([])
  other.stop()
})

test('[X6] an unfinished erasure that another process finished is not run again', async () => {
  isAnswerLost = true
  await expect(done(eraser.erase('anna'))).rejects.toBeInstanceOf(Unavailable)
  isAnswerLost = false
  const [begun] = await unfinished()
  expect(begun).toBe('anna')
  await done(world.archive.resumeErasure('anna', NOW))
  await done(world.archive.endErasure('anna', NOW))
  await done(choose('anna', { deny: ['mallory'] }))
  await world.clock.advance(HOUR_MS)
  const [anna] = await done(world.archive.read(['anna']))
  expect(anna?.settings?.privacy).toMatchObject({ deny: ['mallory'] })
})

test('[X6] without the archive no erasure begins', async () => {
  await done(choose('anna', { deny: ['mallory'] }))
  isArchiveAway = true
  const refused = await done(eraser.erase('anna')).catch((error) => error)
  expect(refused.advice).toMatch(/^nothing was erased/)
  isArchiveAway = false
  await world.clock.advance(HOUR_MS)
  const [anna] = await done(world.archive.read(['anna']))
  expect(anna?.settings?.privacy).toMatchObject({ deny: ['mallory'] })
})

test('[X6] owners of lists are notified even when the answer of the erasure was lost', async () => {
  await done(world.archive.addContacts('bob', ['anna'], NOW))
  isErasureUnanswered = true
  await expect(done(eraser.erase('anna'))).rejects.toBeInstanceOf(Unavailable)
  await world.clock.advance(0)
  expect(await held('bob')).toBeNull()
  isErasureUnanswered = false
  await world.clock.advance(FINISH_PAUSE_MS)
  expect(await held('bob')).toMatchObject({ contactsAt: expect.any(Number) })
})

test('[X6] an erasure whose first commit was not answered is announced and finished', async () => {
  await done(world.memory.openLease(WATCHING, world.clock.now() + HOUR_MS))
  await done(choose('anna', { deny: ['mallory'] }))
  isAnswerLost = true
  await expect(done(eraser.erase('anna'))).rejects.toBeInstanceOf(Unavailable)
  await world.clock.advance(0)
  isAnswerLost = false
  await world.clock.advance(FINISH_PAUSE_MS)
  expect(world.heard).toContainEqual(expect.objectContaining({ kind: 'erased', userId: 'anna' }))
  expect(await done(world.archive.read(['anna']))).toEqual(NO_ROWS)
})

test('[X6] a second round that fails is tried again', async () => {
  await done(eraser.erase('anna'))
  await done(
    world.archive.writeSettings([
      {
        userId: 'anna',
        availability: null,
        customStatus: null,
        awayAfter: null,
        privacy: null,
        history: null,
      },
    ]),
  )
  isArchiveAway = true
  await world.clock.advance(SECOND_ROUND_MS)
  expect(await done(world.archive.read(['anna']))).not.toEqual(NO_ROWS)
  isArchiveAway = false
  await world.clock.advance(SECOND_ROUND_MS)
  expect(await done(world.archive.read(['anna']))).toEqual(NO_ROWS)
  expect(world.clock.timerCount()).toBe(0)
})

test('[X6, S6] an export does not say which users deny or allow the user', async () => {
  await done(choose('mallory', { statusVisibility: 'contacts' }))
  await done(world.archive.addContacts('carol', ['mallory'], NOW))
  const before = await done(exportPerson('mallory'))
  await done(choose('bob', { deny: ['mallory'] }))
  await done(choose('zoe', { allow: ['mallory'], deny: ['mallory'] }))
  expect(await done(exportPerson('mallory'))).toBe(before)
  expect(JSON.parse(before)).toMatchObject({ contact_of: ['carol'] })
})
