// Who is in whose list, asked of a real archive: many questions of one turn are one, a yes is
// remembered for its edition of the list and a minute, a no is not, and silence is a guess that is asked
// again. Of whoever is hidden anyway it is asked too, so that they take no less time.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../../testing/fake-clock.ts'
import { SOME_INSTANT as NOW, OPEN_RULES } from '../../../../../testing/records.ts'
import type { Archive, ContactPair } from '../../archive/port.ts'
import { createSqliteArchive } from '../../archive/sqlite.ts'
import { createLogger } from '../../platform/logger.ts'
import { NO_PRIVACY_CHOSEN, type Privacy } from '../core/privacy.ts'
import { type Between, createRelations, type Party, type Relations } from './relations.ts'

const REMEMBERED_MS = 60_000
const REMEMBERED_MAX = 200_000
const STRANGERS = { viewerIsContact: false, targetIsContact: false }

let archive: Archive
let clock: FakeClock
let relations: Relations
/** What the archive was asked, question by question. */
let asked: ContactPair[][]
let isAway: boolean
let isEverybodyListed: boolean
let gate: Promise<void> | null
let complaints: number

beforeEach(async () => {
  ;[asked, isAway, isEverybodyListed, gate, complaints] = [[], false, false, null, 0]
  archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  clock = createFakeClock(NOW)
  const destination = { write: () => void complaints++ }
  relations = createRelations({
    archive: {
      ...archive,
      async areContacts(pairs) {
        asked.push(pairs.map(({ ownerId, contactId }) => ({ ownerId, contactId })))
        const answers = await archive.areContacts(pairs)
        await gate
        if (isAway) throw new Error('the database is gone')
        return isEverybodyListed ? pairs.map(() => true) : answers
      },
    },
    rules: OPEN_RULES,
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

/** Shows themselves to their contacts only. */
const guarded = (userId: string, contactsAt = 0) =>
  party(userId, { statusVisibility: 'contacts', lastSeenVisibility: 'contacts' }, contactsAt)

/** Lets the clock run, which stands still, until this is answered. */
async function answered<T>(answer: Promise<T>): Promise<T> {
  let isDone = false
  void answer.finally(() => {
    isDone = true
  })
  while (!isDone) await clock.advance(0)
  return answer
}

const between = (target: Party, viewer: Party): Promise<Between> =>
  answered(relations.between(target, viewer))

describe('asking', () => {
  test('[S5] the viewer is in the list of the target, or is not', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    const seen = await between(guarded('bob'), party('alice'))
    expect(seen).toEqual({ relation: { ...STRANGERS, viewerIsContact: true }, isGuess: false })
    expect(await between(guarded('alice'), party('bob'))).toEqual({ relation: STRANGERS, isGuess: false })
  })

  test('[S5] what makes no difference to those who see them is not asked', async () => {
    await between(party('bob'), guarded('alice'))
    await between(
      party('bob', { statusVisibility: 'contacts', lastSeenVisibility: 'contacts', allow: ['alice'] }),
      party('alice'),
    )
    await between(guarded('bob'), guarded('bob'))
    expect(asked).toEqual([])
  })

  test('[S6] of whoever is hidden anyway it is asked all the same, and nothing hangs on the answer', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    const pair = { ownerId: 'bob', contactId: 'alice' }
    const nobody = party('bob', { statusVisibility: 'nobody' })
    expect(await between(nobody, party('alice'))).toEqual({ relation: STRANGERS, isGuess: false })
    const denied = party('bob', { statusVisibility: 'contacts', deny: ['alice'] })
    expect(await between(denied, party('alice'))).toEqual({ relation: STRANGERS, isGuess: false })
    isAway = true
    expect((await between(denied, party('alice'))).isGuess).toBe(false)
    await answered(relations.pretend('bob', 'alice'))
    expect(asked).toEqual([[pair], [pair], [pair], [pair]])
  })

  test('[S5] somebody reciprocal is asked about both ways, in one question', async () => {
    await archive.addContacts('alice', ['bob'], NOW)
    const bob = party('bob', { statusVisibility: 'contacts', reciprocal: true })
    expect((await between(bob, guarded('alice'))).relation).toEqual({
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

  test('[S5] everything that comes up in one turn is one question, each with its own answer', async () => {
    const owners = Array.from({ length: 1_500 }, (_, n) => `owner-${n}`)
    await Promise.all(
      owners.filter((_, n) => n % 3 === 0).map((owner) => archive.addContacts(owner, ['alice'], NOW)),
    )
    const answers = await answered(
      Promise.all(owners.map((owner) => relations.between(guarded(owner), party('alice')))),
    )
    expect(answers.map(({ relation }) => relation.viewerIsContact)).toEqual(owners.map((_, n) => n % 3 === 0))
    expect(asked.map((pairs) => pairs.length)).toEqual([1_500])
  })

  test('[S5] what comes up while a question is under way goes into the next one', async () => {
    const open = Promise.withResolvers<void>()
    gate = open.promise
    const first = relations.between(guarded('bob'), party('alice'))
    await clock.advance(0)
    const others = ['carol', 'dave'].map((owner) => relations.between(guarded(owner), party('alice')))
    await clock.advance(0)
    open.resolve()
    await answered(Promise.all([first, ...others]))
    expect(asked.map((pairs) => pairs.map(({ ownerId }) => ownerId))).toEqual([['bob'], ['carol', 'dave']])
  })
})

describe('remembering', () => {
  test('[S5] a yes holds for a minute, then it is asked again', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    await between(guarded('bob'), party('alice'))
    await archive.removeContacts('bob', ['alice'])
    await clock.advance(REMEMBERED_MS - 1)
    expect((await between(guarded('bob'), party('alice'))).relation.viewerIsContact).toBe(true)
    expect(asked).toHaveLength(1)
    await clock.advance(1)
    expect((await between(guarded('bob'), party('alice'))).relation.viewerIsContact).toBe(false)
    expect(asked).toHaveLength(2)
  })

  test('[S7] whoever asks anew is told what the list says, and nobody goes by the yes of before after it', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    await between(guarded('bob'), party('alice'))
    await archive.removeContacts('bob', ['alice'])
    const how = { isAnew: true, pretendedId: null }
    const [anew] = await answered(relations.betweenMany([guarded('bob')], party('alice'), how))
    expect(anew!.relation.viewerIsContact).toBe(false)
    expect((await between(guarded('bob'), party('alice'))).relation.viewerIsContact).toBe(false)
  })

  test('[S5, R4] many are asked for at once, in their order, with what is remembered and what is pretended', async () => {
    for (const owner of ['bob', 'carol']) await archive.addContacts(owner, ['alice'], NOW)
    await between(guarded('carol'), party('alice'))
    const before = asked.length
    const targets = ['bob', 'dave', 'carol'].map((owner) => guarded(owner))
    const how = { isAnew: false, pretendedId: 'nobody' }
    const found = await answered(relations.betweenMany(targets, party('alice'), how))
    expect(found.map(({ relation }) => relation.viewerIsContact)).toEqual([true, false, true])
    expect(asked.slice(before)).toHaveLength(1)
    expect(await relations.betweenMany([], party('alice'), { ...how, pretendedId: null })).toEqual([])
  })

  test('[S6] a no is asked every time: it takes as long as of somebody nobody has heard of', async () => {
    for (const times of [1, 2, 3]) {
      expect((await between(guarded('bob'), party('alice'))).relation.viewerIsContact).toBe(false)
      expect(asked).toHaveLength(times)
    }
  })

  test('[S5] an edit of the list makes it void at once, an edit of another list does not', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    await between(guarded('bob', 1), party('alice', null, 1))
    await archive.removeContacts('bob', ['alice'])
    await between(guarded('bob', 1), party('alice', null, 2))
    expect(asked).toHaveLength(1)
    expect((await between(guarded('bob', 2), party('alice', null, 2))).relation.viewerIsContact).toBe(false)
    expect(asked).toHaveLength(2)
  })

  test('[S5] an answer to a question about the old edition does not serve for the new one', async () => {
    const open = Promise.withResolvers<void>()
    gate = open.promise
    const old = relations.between(guarded('bob', 1), party('alice'))
    await clock.advance(0)
    await archive.addContacts('bob', ['alice'], NOW)
    const present = relations.between(guarded('bob', 2), party('alice'))
    open.resolve()
    const answers = await answered(Promise.all([old, present]))
    expect(answers.map(({ relation }) => relation.viewerIsContact)).toEqual([false, true])
    expect((await between(guarded('bob', 2), party('alice'))).relation.viewerIsContact).toBe(true)
  })

  test('[S5] it is directed, and names that run into each other are different people', async () => {
    await archive.addContacts('a', ['bc'], NOW)
    for (const [owner, contact] of [
      ['a', 'bc'],
      ['ab', 'c'],
      ['bc', 'a'],
    ] as const) {
      const { relation } = await between(guarded(owner), party(contact))
      expect([owner, relation.viewerIsContact]).toEqual([owner, owner === 'a'])
    }
  })

  test('[S5] the memory is bounded: the oldest answers go first', async () => {
    isEverybodyListed = true
    await between(guarded('first'), party('alice'))
    const crowd = Array.from({ length: REMEMBERED_MAX }, (_, n) =>
      relations.between(guarded(`owner-${n}`), party('alice')),
    )
    await answered(Promise.all(crowd))
    const before = asked.length
    for (const n of [REMEMBERED_MAX / 2 + 1, REMEMBERED_MAX - 1])
      await between(guarded(`owner-${n}`), party('alice'))
    expect(asked).toHaveLength(before)
    await between(guarded('first'), party('alice'))
    expect(asked).toHaveLength(before + 1)
  })
})

describe('an archive that does not answer', () => {
  test('[S5] is a no that says it is a guess, for everybody who asked', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    isAway = true
    const answers = await answered(
      Promise.all(['bob', 'carol'].map((owner) => relations.between(guarded(owner), party('alice')))),
    )
    expect(answers).toEqual([
      { relation: STRANGERS, isGuess: true },
      { relation: STRANGERS, isGuess: true },
    ])
  })

  test('[S5] is asked again the next time, and guesses are not remembered', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    isAway = true
    await between(guarded('bob'), party('alice'))
    isAway = false
    expect(await between(guarded('bob'), party('alice'))).toEqual({
      relation: { ...STRANGERS, viewerIsContact: true },
      isGuess: false,
    })
    expect(asked).toHaveLength(2)
  })

  test('[S5] takes nothing from what is remembered, and half a guess is a guess', async () => {
    await archive.addContacts('bob', ['alice'], NOW)
    await between(guarded('bob'), party('alice'))
    isAway = true
    expect((await between(guarded('bob'), party('alice'))).isGuess).toBe(false)
    const bob = party('bob', { statusVisibility: 'contacts', reciprocal: true })
    expect(await between(bob, guarded('alice'))).toEqual({
      relation: { viewerIsContact: true, targetIsContact: false },
      isGuess: true,
    })
  })

  test('[S5] is complained of once, not for every question, and again after it was back', async () => {
    isAway = true
    for (const owner of ['bob', 'carol', 'dave']) await between(guarded(owner), party('alice'))
    expect(complaints).toBe(1)
    isAway = false
    await between(guarded('bob'), party('alice'))
    isAway = true
    await between(guarded('erin'), party('alice'))
    expect(complaints).toBe(2)
  })
})
