// Contact relations, looked up in a real archive: what is asked, how it is gathered and cached, and what holds
// while the archive does not answer.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock, untilDone } from '../../../../../testing/worlds/fake-clock.ts'
import { SOME_INSTANT as NOW, OPEN_RULES } from '../../../../../testing/worlds/records.ts'
import type { Archive, ContactPair } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createLogger } from '../../platform/logger.ts'
import { NO_PRIVACY_CHOSEN, type Privacy } from '../core/privacy.ts'
import { createEvaluator } from './evaluator.ts'
import { createRelations, type RelationAnswer, type Relations } from './relations.ts'
import type { Party } from './visibility.ts'

const CACHED_MS = 60_000
const CACHED_MAX = 200_000
const NO_CONTACTS = { viewerIsContact: false, targetIsContact: false }

let archive: Archive
let clock: FakeClock
let relations: Relations
/** The pairs of each query to the archive. */
let asked: ContactPair[][]
let isAway: boolean
let isEveryPairListed: boolean
let gate: Promise<void> | null
let errors: number

beforeEach(async () => {
  ;[asked, isAway, isEveryPairListed, gate, errors] = [[], false, false, null, 0]
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  clock = createFakeClock(NOW)
  const destination = { write: () => void errors++ }
  relations = createRelations({
    archive: {
      ...archive,
      async areContacts(pairs) {
        asked.push(pairs.map(({ ownerId, contactId }) => ({ ownerId, contactId })))
        // Many pairs would take the database long.
        const answers = isEveryPairListed ? pairs.map(() => true) : await archive.areContacts(pairs)
        await gate
        if (isAway) throw new Error('the database is gone')
        return answers
      },
    },
    evaluator: createEvaluator(OPEN_RULES),
    clock,
    logger: createLogger({ level: 'error', destination }),
  })
})
afterEach(() => archive.close())

function party(userId: string, privacy: Partial<Privacy> | null = null, contactsAt = 0): Party {
  return {
    userId,
    privacy: privacy === null ? null : { ...NO_PRIVACY_CHOSEN, ...privacy },
    contactsAt,
  }
}

/** A user that only contacts see. */
const contactsOnly = (userId: string, contactsAt = 0) =>
  party(userId, { statusVisibility: 'contacts', lastSeenVisibility: 'contacts' }, contactsAt)

const answered = <T>(answer: Promise<T>): Promise<T> => untilDone(clock, answer)

const between = (target: Party, viewer: Party): Promise<RelationAnswer> =>
  answered(relations.between(target, viewer))

/** Whether the viewer is in the target's list. */
const isContact = async (target: Party, viewer: Party) =>
  (await between(target, viewer)).relation.viewerIsContact

describe('a look-up', () => {
  test('[S5] says whether the viewer is in the list of the target', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    const seen = await between(contactsOnly('bob'), party('alice'))
    expect(seen).toEqual({ relation: { ...NO_CONTACTS, viewerIsContact: true }, isGuess: false })
    expect(await between(contactsOnly('alice'), party('bob'))).toEqual({
      relation: NO_CONTACTS,
      isGuess: false,
    })
  })

  test('[S5] leaves out what makes no difference', async () => {
    await between(party('bob'), contactsOnly('alice'))
    await between(
      party('bob', { statusVisibility: 'contacts', lastSeenVisibility: 'contacts', allow: ['alice'] }),
      party('alice'),
    )
    await between(contactsOnly('bob'), contactsOnly('bob'))
    await between(party('bob', { statusVisibility: 'nobody' }), party('alice'))
    await between(party('bob', { statusVisibility: 'contacts', deny: ['alice'] }), party('alice'))
    expect(asked).toEqual([])
  })

  test('[S5] asks both ways for a reciprocal target, in one query', async () => {
    await archive.addContacts('alice', ['bob'], NOW)
    const bob = party('bob', { statusVisibility: 'contacts', reciprocal: true })
    expect((await between(bob, contactsOnly('alice'))).relation).toEqual({
      viewerIsContact: false,
      targetIsContact: true,
    })
    expect(asked).toEqual([
      [
        { ownerId: 'bob', contactId: 'alice' },
        { ownerId: 'alice', contactId: 'bob' },
      ],
    ])
  })

  test('[S5] of many pairs in one turn is one query, and each gets its own answer', async () => {
    const owners = Array.from({ length: 1_500 }, (_, n) => `owner-${n}`)
    await Promise.all(
      owners.filter((_, n) => n % 3 === 0).map((owner) => archive.addContacts(owner, ['alice'], NOW)),
    )
    const answers = await answered(
      Promise.all(owners.map((owner) => relations.between(contactsOnly(owner), party('alice')))),
    )
    expect(answers.map(({ relation }) => relation.viewerIsContact)).toEqual(owners.map((_, n) => n % 3 === 0))
    expect(asked.map((pairs) => pairs.length)).toEqual([1_500])
  })

  test('[S5] that comes while a query is under way goes into the next one', async () => {
    const open = Promise.withResolvers<void>()
    gate = open.promise
    const first = relations.between(contactsOnly('bob'), party('alice'))
    await clock.advance(0)
    const others = ['carol', 'dave'].map((owner) => relations.between(contactsOnly(owner), party('alice')))
    await clock.advance(0)
    open.resolve()
    await answered(Promise.all([first, ...others]))
    expect(asked.map((pairs) => pairs.map(({ ownerId }) => ownerId))).toEqual([['bob'], ['carol', 'dave']])
  })
})

describe('the cache', () => {
  test.each([true, false])('[S5] keeps the answer %p for a minute', async (isListed) => {
    if (isListed) await archive.addContacts('bob', ['alice'], NOW)
    await between(contactsOnly('bob'), party('alice'))
    if (isListed) await archive.removeContacts('bob', ['alice'])
    else await archive.addContacts('bob', ['alice'], NOW)
    await clock.advance(CACHED_MS - 1)
    expect(await isContact(contactsOnly('bob'), party('alice'))).toBe(isListed)
    expect(asked).toHaveLength(1)
    await clock.advance(1)
    expect(await isContact(contactsOnly('bob'), party('alice'))).toBe(!isListed)
    expect(asked).toHaveLength(2)
  })

  test('[S7] is skipped by a fresh look-up, and has its answer afterwards', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    await between(contactsOnly('bob'), party('alice'))
    await archive.removeContacts('bob', ['alice'])
    const fresh = relations.betweenMany([contactsOnly('bob')], party('alice'), { isFresh: true })
    expect((await answered(fresh))[0]!.relation.viewerIsContact).toBe(false)
    expect(await isContact(contactsOnly('bob'), party('alice'))).toBe(false)
    expect(asked).toHaveLength(2)
  })

  test('[S5] serves a part of many targets, which are answered in their order by one query', async () => {
    for (const owner of ['bob', 'carol']) await archive.addContacts(owner, ['alice'], NOW)
    await between(contactsOnly('carol'), party('alice'))
    const targets = ['bob', 'dave', 'carol'].map((owner) => contactsOnly(owner))
    const found = await answered(relations.betweenMany(targets, party('alice')))
    expect(found.map(({ relation }) => relation.viewerIsContact)).toEqual([true, false, true])
    expect(asked.slice(1).map((pairs) => pairs.map(({ ownerId }) => ownerId))).toEqual([['bob', 'dave']])
    expect(await relations.betweenMany([], party('alice'))).toEqual([])
  })

  test('[C7] is empty after it was cleared', async () => {
    await between(contactsOnly('bob'), party('alice'))
    relations.clearCache()
    await between(contactsOnly('bob'), party('alice'))
    expect(asked).toHaveLength(2)
  })

  test('[C7] is not filled by a query that began before it was cleared', async () => {
    const open = Promise.withResolvers<void>()
    gate = open.promise
    const early = relations.between(contactsOnly('bob'), party('alice'))
    await clock.advance(0)
    await archive.addContacts('bob', ['alice'], NOW)
    relations.clearCache()
    open.resolve()
    expect((await answered(early)).relation.viewerIsContact).toBe(false)
    expect(await isContact(contactsOnly('bob'), party('alice'))).toBe(true)
  })

  test('[S5] is void for a new edition of the list, and not for one of another list', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    await between(contactsOnly('bob', 1), party('alice', null, 1))
    await archive.removeContacts('bob', ['alice'])
    await between(contactsOnly('bob', 1), party('alice', null, 2))
    expect(asked).toHaveLength(1)
    expect(await isContact(contactsOnly('bob', 2), party('alice', null, 2))).toBe(false)
    expect(asked).toHaveLength(2)
  })

  test('[S5] does not give an answer about an old edition for the new one', async () => {
    const open = Promise.withResolvers<void>()
    gate = open.promise
    const old = relations.between(contactsOnly('bob', 1), party('alice'))
    await clock.advance(0)
    await archive.addContacts('bob', ['alice'], NOW)
    const present = relations.between(contactsOnly('bob', 2), party('alice'))
    open.resolve()
    const answers = await answered(Promise.all([old, present]))
    expect(answers.map(({ relation }) => relation.viewerIsContact)).toEqual([false, true])
    expect(await isContact(contactsOnly('bob', 2), party('alice'))).toBe(true)
  })

  test('[S5] tells apart owner and contact, and ids that join to the same text', async () => {
    await archive.addContacts('a', ['bc'], NOW)
    for (const [owner, contact] of [
      ['a', 'bc'],
      ['ab', 'c'],
      ['bc', 'a'],
    ] as const) {
      const { relation } = await between(contactsOnly(owner), party(contact))
      expect([owner, relation.viewerIsContact]).toEqual([owner, owner === 'a'])
    }
  })

  test('[S5] is bounded, and the oldest answers go first', async () => {
    isEveryPairListed = true
    await between(contactsOnly('first'), party('alice'))
    const owners = Array.from({ length: CACHED_MAX }, (_, n) => contactsOnly(`owner-${n}`))
    await answered(relations.betweenMany(owners, party('alice')))
    const before = asked.length
    for (const n of [CACHED_MAX / 2 + 1, CACHED_MAX - 1])
      await between(contactsOnly(`owner-${n}`), party('alice'))
    expect(asked).toHaveLength(before)
    await between(contactsOnly('first'), party('alice'))
    expect(asked).toHaveLength(before + 1)
  })
})

describe('an archive that does not answer', () => {
  test('[S5] counts as no for every pair, and the result says that it is a guess', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    isAway = true
    const answers = await answered(
      Promise.all(['bob', 'carol'].map((owner) => relations.between(contactsOnly(owner), party('alice')))),
    )
    expect(answers).toEqual([
      { relation: NO_CONTACTS, isGuess: true },
      { relation: NO_CONTACTS, isGuess: true },
    ])
  })

  test('[S5] is asked again the next time: guesses are not cached', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    isAway = true
    await between(contactsOnly('bob'), party('alice'))
    isAway = false
    expect(await between(contactsOnly('bob'), party('alice'))).toEqual({
      relation: { ...NO_CONTACTS, viewerIsContact: true },
      isGuess: false,
    })
    expect(asked).toHaveLength(2)
  })

  test('[S5] does not void cached answers, and a guess about one part is a guess', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    await between(contactsOnly('bob'), party('alice'))
    isAway = true
    expect((await between(contactsOnly('bob'), party('alice'))).isGuess).toBe(false)
    const bob = party('bob', { statusVisibility: 'contacts', reciprocal: true })
    expect(await between(bob, contactsOnly('alice'))).toEqual({
      relation: { viewerIsContact: true, targetIsContact: false },
      isGuess: true,
    })
  })

  test('[S5] is logged once until it answers again', async () => {
    isAway = true
    for (const owner of ['bob', 'carol', 'dave']) await between(contactsOnly(owner), party('alice'))
    expect(errors).toBe(1)
    isAway = false
    await between(contactsOnly('bob'), party('alice'))
    isAway = true
    await between(contactsOnly('erin'), party('alice'))
    expect(errors).toBe(2)
  })
})
