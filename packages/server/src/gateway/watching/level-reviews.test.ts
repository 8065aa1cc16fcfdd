// What every viewer may see, on the watch edges: while it is being found out they are told nothing, when
// it is settled they are told once and only what is new to them. With a real archive, outbox and
// evaluator; only the archive's answers can be slow or missing.
import { afterEach, describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import {
  FLUSH_MS,
  type GatewayWorldOptions,
  WORLD_STARTS_AT as NOW,
  STREAM_TIMERS,
} from '../../../../../testing/gateway-world.ts'
import { createSightsWorld, type SightsWorld } from '../../../../../testing/sights-world.ts'
import type { Privacy } from '../../presence/core/privacy.ts'

const ASK_AGAIN_MS = 1_000
const CONTACTS_ONLY: Partial<Privacy> = { statusVisibility: 'contacts', lastSeenVisibility: 'contacts' }
const [ALICE, MALLORY] = [0, 1]

let world: SightsWorld
async function begin(options?: GatewayWorldOptions): Promise<void> {
  world = await createSightsWorld(options)
}
afterEach(() => world.close())

/** Bob shows himself to contacts, alice is one and watches him; mallory is none and watches him too. */
async function guardedBob(): Promise<void> {
  await begin()
  world.guard('bob', CONTACTS_ONLY)
  await world.list('bob', ['alice'])
  expect((await world.watch(ALICE, 'bob')).status).toBe('online')
  expect((await world.watch(MALLORY, 'bob')).version).toBe(0)
  await world.hears(ALICE)
  expect(await world.hears(MALLORY)).toEqual([])
}

const texts = (presences: readonly Presence[]) => presences.map((one) => one.custom_status?.text ?? null)
const versions = (presences: readonly Presence[]) => presences.map(({ version }) => version)

describe('deciding', () => {
  test('[S5] where nothing has to be looked up it is decided at once and the archive is left alone', async () => {
    await begin()
    world.guard('choosy', { ...CONTACTS_ONLY, allow: ['alice'] })
    for (const userId of ['open', 'choosy', 'alice']) {
      await world.watch(ALICE, userId)
      expect([userId, world.decidesAtOnce(ALICE, userId)]).toEqual([userId, true])
    }
    expect(world.asked.areContacts).toBe(0)
  })

  test('[S6] whoever is hidden takes as long as whoever has nothing to show, and is asked about once', async () => {
    await begin()
    world.guard('nobody', { statusVisibility: 'nobody' })
    world.guard('contacts', CONTACTS_ONLY)
    world.guard('denying', { deny: ['alice'] })
    world.show('open', null)
    for (const userId of ['nobody', 'contacts', 'denying']) world.show(userId, null)
    for (const userIds of [['nobody'], ['contacts'], ['denying'], ['unheard of'], ['unheard of', 'nobody']]) {
      const before = world.asked.areContacts
      expect([userIds, await world.turnsToDecide(ALICE, [...userIds, 'open'])]).toEqual([userIds, 1])
      expect(world.asked.areContacts).toBe(before + 1)
    }
  })

  test('[S5] whoever sees nothing hears nothing, whoever sees less hears less', async () => {
    await begin({ viewers: ['alice', 'mallory', 'bob'] })
    world.guard('bob', { statusVisibility: 'contacts', lastSeenVisibility: 'nobody', allow: [] })
    await world.list('bob', ['alice'])
    for (const connection of [0, 1, 2]) await world.watch(connection, 'bob')
    world.show('bob', 'hello')
    expect(await world.hears(0)).toMatchObject([{ last_seen: null, custom_status: { text: 'hello' } }])
    expect(await world.hears(1)).toEqual([])
    // People see themselves whole.
    expect(await world.hears(2)).toMatchObject([{ last_seen: NOW, custom_status: { text: 'hello' } }])
  })

  test('[S5] hidden by default until the list says otherwise', async () => {
    await begin({ rules: { defaultVisibility: 'contacts', hiddenAs: null } })
    await world.archive.addContacts('bob', ['alice'], NOW)
    expect((await world.watch(ALICE, 'bob')).status).toBe('online')
    expect((await world.watch(MALLORY, 'bob')).status).toBeNull()
  })
})

describe('a change of privacy', () => {
  test('[S5] who loses the right is told once, with version 0; nobody else is told anything', async () => {
    await guardedBob()
    world.guard('bob', { statusVisibility: 'nobody' })
    expect(versions(await world.hears(ALICE))).toEqual([0])
    expect(await world.hears(MALLORY)).toEqual([])
    world.show('bob', 'unseen')
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S5] who gains the right is told the present truth; who had it already hears nothing', async () => {
    await guardedBob()
    world.show('bob', 'among friends')
    await world.hears(ALICE)
    world.guard('bob', { statusVisibility: 'everyone', lastSeenVisibility: 'everyone' })
    expect(texts(await world.hears(MALLORY))).toEqual(['among friends'])
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S5] a change of what is shown of the last seen keeps the version', async () => {
    await guardedBob()
    world.show('bob', 'here')
    const [before] = await world.hears(ALICE)
    world.guard('bob', { lastSeenVisibility: 'nobody' })
    expect(await world.hears(ALICE)).toEqual([{ ...before!, last_seen: null }])
    world.guard('bob', { lastSeenVisibility: 'contacts', lastSeenPrecision: 'approximate' })
    expect(await world.hears(ALICE)).toEqual([{ ...before!, last_seen: null, last_seen_bucket: 'recently' }])
  })

  test('[S5] what a viewer shows decides what they see of the reciprocal, and of nobody else', async () => {
    await begin()
    world.guard('bob', { reciprocal: true })
    world.guard('carol', { deny: ['trudy'] })
    for (const userId of ['bob', 'carol', 'dave']) await world.watch(ALICE, userId)
    await world.hears(ALICE)
    world.guard('alice', { statusVisibility: 'nobody' })
    expect((await world.hears(ALICE)).map(({ user_id, version }) => [user_id, version])).toEqual([['bob', 0]])
    world.guard('alice', { statusVisibility: 'everyone' })
    expect((await world.hears(ALICE)).map(({ user_id, status }) => [user_id, status])).toEqual([
      ['bob', 'online'],
    ])
    expect(world.asked.areContacts).toBe(0)
  })
})

describe('in doubt', () => {
  test('[S6] nothing goes out while the list is read again, not even what was marked before', async () => {
    await guardedBob()
    const open = world.closeGate()
    world.show('bob', 'marked before')
    await world.list('bob', [])
    expect(world.isInDoubt(ALICE, 'bob')).toBe(true)
    world.show('bob', 'changed meanwhile')
    await world.clock.advance(60_000)
    expect(await world.hears(ALICE)).toEqual([])
    open()
    expect(versions(await world.hears(ALICE))).toEqual([0])
    expect(await world.hears(MALLORY)).toEqual([])
  })

  test('[S6] who may still see is told the newest of what they missed, once', async () => {
    await guardedBob()
    const open = world.closeGate()
    await world.list('bob', ['alice', 'carol'])
    for (const text of ['one', 'two', 'three']) world.show('bob', text)
    expect(await world.hears(ALICE)).toEqual([])
    open()
    expect(texts(await world.hears(ALICE))).toEqual(['three'])
    expect(await world.hears(MALLORY)).toEqual([])
  })

  test('[S6] who may still see and missed nothing is told nothing', async () => {
    await guardedBob()
    await world.list('bob', ['alice', 'carol'])
    expect(await world.hears(ALICE)).toEqual([])
    expect(world.isInDoubt(ALICE, 'bob')).toBe(false)
  })

  test('[S6] one question settles all viewers of somebody', async () => {
    const viewers = Array.from({ length: 300 }, (_, n) => `viewer-${n}`)
    await begin({ viewers })
    world.guard('bob', CONTACTS_ONLY)
    for (const connection of viewers.keys()) await world.watch(connection, 'bob')
    const before = world.asked.areContacts
    await world.list('bob', viewers.slice(0, 150))
    await world.clock.advance(FLUSH_MS)
    expect(world.asked.areContacts - before).toBe(1)
    const told = await Promise.all([world.hears(0)])
    expect(versions(told[0])).toEqual([1])
  })
})

describe('answers that come too late', () => {
  test('[S6] an answer to the old list does not settle what the new one put in doubt', async () => {
    await guardedBob()
    const openFirst = world.closeGate()
    await world.list('bob', ['alice', 'carol'])
    // The archive has read the list by now, and is slow to say so.
    await world.clock.advance(0)
    const openSecond = world.closeGate()
    await world.list('bob', [])
    await world.clock.advance(0)
    world.show('bob', 'for friends only')
    openFirst()
    expect(await world.hears(ALICE)).toEqual([])
    expect(world.isInDoubt(ALICE, 'bob')).toBe(true)
    openSecond()
    expect(versions(await world.hears(ALICE))).toEqual([0])
  })

  test('[S6] who was denied meanwhile is not let in again by it', async () => {
    await guardedBob()
    const open = world.closeGate()
    await world.list('bob', ['alice', 'carol'])
    await world.clock.advance(0)
    world.guard('bob', { deny: ['alice'] })
    expect(versions(await world.hears(ALICE))).toEqual([0])
    open()
    world.show('bob', 'unseen')
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S6] the edge of somebody who ended is not settled for whoever has its number now', async () => {
    await guardedBob()
    const edge = world.edgeOf(ALICE, 'bob')
    const tellOfAlice = world.closeGate()
    await world.list('bob', ['alice', 'carol'])
    await world.clock.advance(0)
    // Eve gets the place while nobody can say what she may see, and is asked about a second later.
    world.faults.gate = null
    world.faults.isArchiveAway = true
    world.replaceViewer(ALICE, 'eve')
    expect((await world.watch(ALICE, 'bob')).version).toBe(0)
    expect(world.edgeOf(ALICE, 'bob')).toBe(edge)
    world.faults.isArchiveAway = false
    const tellOfEve = world.closeGate()
    const asked = world.asked.areContacts
    await world.clock.advance(ASK_AGAIN_MS)
    expect(world.asked.areContacts).toBe(asked + 1)
    world.show('bob', 'for alice, not for eve')
    tellOfAlice()
    expect(await world.hears(ALICE)).toEqual([])
    tellOfEve()
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S6] an edge that leads to somebody else by now is left alone', async () => {
    await guardedBob()
    const edge = world.edgeOf(ALICE, 'bob')
    const open = world.closeGate()
    await world.list('bob', [])
    await world.clock.advance(0)
    world.unwatch(ALICE, 'bob')
    expect((await world.watch(ALICE, 'carol')).status).toBe('online')
    expect(world.edgeOf(ALICE, 'carol')).toBe(edge)
    await world.hears(ALICE)
    open()
    expect(await world.hears(ALICE)).toEqual([])
    world.show('carol', 'still seen')
    expect(texts(await world.hears(ALICE))).toEqual(['still seen'])
  })

  test('[S6] a snapshot made while the privacy changed shows nothing, and the truth follows', async () => {
    await begin()
    world.guard('bob', CONTACTS_ONLY)
    await world.list('bob', ['alice', 'mallory'])
    const shut = () => world.guard('bob', { deny: ['mallory'] })
    expect((await world.watch(MALLORY, 'bob', shut)).version).toBe(0)
    expect(await world.hears(MALLORY)).toEqual([])
    const open = () => world.guard('bob', { statusVisibility: 'everyone', lastSeenVisibility: 'everyone' })
    expect((await world.watch(ALICE, 'bob', open)).version).toBe(0)
    expect(await world.hears(ALICE)).toMatchObject([{ status: 'online', last_seen: NOW }])
  })
})

describe('an archive that does not answer', () => {
  test('[S5] is taken for a no and asked again every second, until the truth can be told', async () => {
    await guardedBob()
    world.faults.isArchiveAway = true
    await world.list('bob', ['alice', 'carol'])
    expect(versions(await world.hears(ALICE))).toEqual([0])
    world.show('bob', 'behind the curtain')
    const before = world.asked.areContacts
    await world.clock.advance(5 * ASK_AGAIN_MS)
    expect(world.asked.areContacts - before).toBe(5)
    expect(await world.hears(ALICE)).toEqual([])
    world.faults.isArchiveAway = false
    await world.clock.advance(ASK_AGAIN_MS)
    expect(texts(await world.hears(ALICE))).toEqual(['behind the curtain'])
    expect(await world.hears(MALLORY)).toEqual([])
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })

  test('[S5] a snapshot made by a guess shows nothing, and what is missing follows', async () => {
    await begin()
    world.guard('bob', CONTACTS_ONLY)
    await world.list('bob', ['alice'])
    world.faults.isArchiveAway = true
    expect((await world.watch(ALICE, 'bob')).version).toBe(0)
    await world.clock.advance(2 * ASK_AGAIN_MS)
    expect(await world.hears(ALICE)).toEqual([])
    world.faults.isArchiveAway = false
    await world.clock.advance(ASK_AGAIN_MS)
    expect((await world.hears(ALICE)).map(({ status }) => status)).toEqual(['online'])
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })

  test('[S5] nobody is asked about who does not watch any more', async () => {
    await guardedBob()
    world.faults.isArchiveAway = true
    await world.list('bob', ['alice', 'carol'])
    await world.hears(ALICE)
    world.unwatch(ALICE, 'bob')
    world.unwatch(MALLORY, 'bob')
    const before = world.asked.areContacts
    await world.clock.advance(10 * ASK_AGAIN_MS)
    expect(world.asked.areContacts).toBe(before)
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })
})
