// Watch edges while a contact list is looked up: the viewer is told nothing until the answer is there, and
// then once. Answers come late, for edges that exist no more, or not at all.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  createGatewayWorld,
  type GatewayWorld,
  STREAM_TIMERS,
} from '../../../../../testing/worlds/gateway-world.ts'
import {
  ALICE,
  CONTACTS_ONLY,
  createContactsOnlyWorld,
  MALLORY,
  texts,
  versions,
} from '../../../../../testing/worlds/watching-world.ts'

const ASK_AGAIN_MS = 1_000
/** For this long an answer about a contact list is cached. */
const CACHED_MS = 60_000

let world: GatewayWorld
beforeEach(async () => {
  world = await createContactsOnlyWorld()
})
afterEach(() => world.close())

describe('an edge that is held', () => {
  test('[S6] is told nothing, not even what was marked before', async () => {
    const open = world.closeGate()
    await world.setText('bob', 'marked before')
    await world.editContacts('bob', [])
    expect(world.watching.hasNoHolds(ALICE)).toBe(false)
    await world.setText('bob', 'changed meanwhile')
    await world.clock.advance(60_000)
    expect(await world.hears(ALICE)).toEqual([])
    open()
    expect(versions(await world.hears(ALICE))).toEqual([0])
    expect(await world.hears(MALLORY)).toEqual([])
  })

  test('[S6] is told the newest of what it missed, once, if its viewer may still see', async () => {
    const open = world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    for (const text of ['one', 'two', 'three']) await world.setText('bob', text)
    expect(await world.hears(ALICE)).toEqual([])
    open()
    expect(texts(await world.hears(ALICE))).toEqual(['three'])
    expect(await world.hears(MALLORY)).toEqual([])
  })

  test('[S6] is told nothing if it missed nothing and its viewer may still see', async () => {
    await world.editContacts('bob', ['alice', 'carol'])
    expect(await world.hears(ALICE)).toEqual([])
    expect(world.watching.hasNoHolds(ALICE)).toBe(true)
  })

  test('[S5] is not held for good by a choice of its viewer meanwhile', async () => {
    await world.connect('alice')
    const open = world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    await world.setText('bob', 'second')
    // Concerns what alice sees of reciprocal targets only, and bob is none.
    await world.choose('alice', CONTACTS_ONLY)
    open()
    expect(texts(await world.hears(ALICE))).toEqual(['second'])
    expect(world.watching.hasNoHolds(ALICE)).toBe(true)
  })

  test('[S5] shows the target to a viewer that is new on the list, once', async () => {
    const open = world.closeGate()
    await world.editContacts('bob', ['alice', 'mallory'])
    await world.setText('bob', 'for mallory too')
    expect(await world.hears(MALLORY)).toEqual([])
    open()
    expect(texts(await world.hears(MALLORY))).toEqual(['for mallory too'])
  })
})

test('[S6, P33] an edge to a target with nothing to show is told of a change only if its viewer may see it', async () => {
  await world.choose('carol', CONTACTS_ONLY)
  await world.editContacts('carol', ['alice', 'mallory'])
  for (const connection of [ALICE, MALLORY])
    expect(versions(await world.watch(connection, ['carol']))).toEqual([0])
  const open = world.closeGate()
  await world.editContacts('carol', ['alice'])
  await world.setText('carol', 'for alice')
  open()
  expect(texts(await world.hears(ALICE))).toEqual(['for alice'])
  expect(await world.hears(MALLORY)).toEqual([])
})

test('[S6] one query answers for all viewers of a target', async () => {
  await world.close()
  const viewers = Array.from({ length: 300 }, (_, n) => `viewer-${n}`)
  world = await createGatewayWorld({ viewers })
  await world.choose('bob', CONTACTS_ONLY)
  await world.setText('bob', 'first')
  for (const connection of viewers.keys()) await world.watch(connection, ['bob'])
  const before = world.asked.areContacts
  await world.editContacts('bob', viewers.slice(0, 150))
  expect(texts(await world.hears(0))).toEqual(['first'])
  expect(await world.hears(299)).toEqual([])
  expect(world.asked.areContacts - before).toBe(1)
})

describe('a client that watches the target again during the look-up', () => {
  /** The viewer asks, and before the answer the list is edited; returns the answer and how to end the look-up. */
  async function watchAgain(connection: number, contactIds: readonly string[], text: string) {
    // So long that no answer is cached.
    await world.clock.advance(CACHED_MS)
    const answer = world.closeGate()
    const answered = world.beginWatch(connection, ['bob'])
    await world.clock.advance(0)
    const lookUp = world.closeGate()
    await world.editContacts('bob', contactIds)
    await world.setText('bob', text)
    answer()
    return { answered: await world.done(answered), lookUp }
  }

  test('[S6] is told after it, once, though nothing is different', async () => {
    const { answered, lookUp } = await watchAgain(ALICE, ['alice', 'carol'], 'first')
    expect(answered).toEqual([])
    expect(await world.hears(ALICE)).toEqual([])
    lookUp()
    expect(texts(await world.hears(ALICE))).toEqual(['first'])
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S6] is told version 0 if it may see no more, and nothing that was written meanwhile', async () => {
    const { answered, lookUp } = await watchAgain(ALICE, ['carol'], 'not for alice')
    expect(answered).toEqual([])
    lookUp()
    expect(versions(await world.hears(ALICE))).toEqual([0])
  })

  test('[S6] is answered at once if it sees nothing, and told nothing after it', async () => {
    const { answered, lookUp } = await watchAgain(MALLORY, ['alice', 'carol'], 'not for mallory')
    expect(versions(answered)).toEqual([0])
    expect(world.watching.hasNoHolds(MALLORY)).toBe(true)
    lookUp()
    expect(await world.hears(MALLORY)).toEqual([])
  })
})

describe('an answer that comes too late', () => {
  test('[S6] does not decide by the former list', async () => {
    const openFirst = world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    // The archive has read the list by now, and answers later.
    await world.clock.advance(0)
    const openSecond = world.closeGate()
    await world.editContacts('bob', [])
    await world.clock.advance(0)
    await world.setText('bob', 'for contacts only')
    openFirst()
    expect(await world.hears(ALICE)).toEqual([])
    expect(world.watching.hasNoHolds(ALICE)).toBe(false)
    openSecond()
    expect(versions(await world.hears(ALICE))).toEqual([0])
  })

  test('[S6] does not let in a viewer that was denied meanwhile', async () => {
    const open = world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    await world.clock.advance(0)
    await world.choose('bob', { deny: ['alice'] })
    expect(versions(await world.hears(ALICE))).toEqual([0])
    open()
    await world.setText('bob', 'unseen')
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S5] does not take back what another look-up found, if it is only a guess', async () => {
    const openFirst = world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    await world.clock.advance(0)
    const openSecond = world.closeGate()
    await world.editContacts('bob', ['alice', 'dave'])
    await world.setText('bob', 'still for alice')
    // The first answer is outdated, so there is a third look-up beside the second.
    const openThird = world.closeGate()
    openFirst()
    await world.clock.advance(0)
    openSecond()
    expect(texts(await world.hears(ALICE))).toEqual(['still for alice'])
    world.faults.isArchiveAway = true
    openThird()
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S6] does not decide for the next viewer with the same connection number and edge', async () => {
    const edge = world.edgeOf(ALICE, 'bob')
    const answerAboutAlice = world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    await world.clock.advance(0)
    // Eve gets the number while the archive is away, and is looked up a second later.
    world.faults.gate = null
    world.faults.isArchiveAway = true
    world.replaceViewer(ALICE, 'eve')
    expect(versions(await world.watch(ALICE, ['bob']))).toEqual([0])
    expect(world.edgeOf(ALICE, 'bob')).toBe(edge)
    world.faults.isArchiveAway = false
    const answerAboutEve = world.closeGate()
    const asked = world.asked.areContacts
    await world.clock.advance(ASK_AGAIN_MS)
    expect(world.asked.areContacts).toBe(asked + 1)
    await world.setText('bob', 'for alice, not for eve')
    answerAboutAlice()
    expect(await world.hears(ALICE)).toEqual([])
    answerAboutEve()
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S6] does not decide about the next target with the same edge', async () => {
    await world.setText('carol', 'first')
    const edge = world.edgeOf(ALICE, 'bob')
    const open = world.closeGate()
    await world.editContacts('bob', [])
    await world.clock.advance(0)
    world.watching.unwatch(ALICE, ['bob'])
    expect(texts(await world.watch(ALICE, ['carol']))).toEqual(['first'])
    expect(world.edgeOf(ALICE, 'carol')).toBe(edge)
    open()
    expect(await world.hears(ALICE)).toEqual([])
    await world.setText('carol', 'still seen')
    expect(texts(await world.hears(ALICE))).toEqual(['still seen'])
  })

  test('[S6] for a snapshot is asked for again if privacy changed meanwhile', async () => {
    for (const connection of [ALICE, MALLORY]) world.watching.unwatch(connection, ['bob'])
    await world.editContacts('bob', ['alice', 'mallory'])
    const openFirst = world.closeGate()
    const first = world.beginWatch(MALLORY, ['bob'])
    await world.clock.advance(0)
    await world.choose('bob', { deny: ['mallory'] })
    openFirst()
    expect(versions(await world.done(first))).toEqual([0])
    expect(await world.hears(MALLORY)).toEqual([])

    const openSecond = world.closeGate()
    const second = world.beginWatch(ALICE, ['bob'])
    await world.clock.advance(0)
    await world.choose('bob', { statusVisibility: 'everyone', lastSeenVisibility: 'everyone' })
    openSecond()
    expect(texts(await world.done(second))).toEqual(['first'])
    expect(await world.hears(ALICE)).toEqual([])
  })
})

describe('an archive that does not answer', () => {
  test('[S5] hides the target, and is asked again every second until it answers', async () => {
    world.faults.isArchiveAway = true
    await world.editContacts('bob', ['alice', 'carol'])
    expect(versions(await world.hears(ALICE))).toEqual([0])
    await world.setText('bob', 'unseen meanwhile')
    const before = world.asked.areContacts
    await world.clock.advance(5 * ASK_AGAIN_MS)
    expect(world.asked.areContacts - before).toBe(5)
    expect(await world.hears(ALICE)).toEqual([])
    world.faults.isArchiveAway = false
    await world.clock.advance(ASK_AGAIN_MS)
    expect(texts(await world.hears(ALICE))).toEqual(['unseen meanwhile'])
    expect(await world.hears(MALLORY)).toEqual([])
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })

  test('[S5] shows nothing in a snapshot, and the state follows once it answers', async () => {
    world.watching.unwatch(ALICE, ['bob'])
    await world.editContacts('bob', ['alice', 'carol'])
    world.faults.isArchiveAway = true
    expect(versions(await world.watch(ALICE, ['bob']))).toEqual([0])
    await world.clock.advance(2 * ASK_AGAIN_MS)
    expect(await world.hears(ALICE)).toEqual([])
    world.faults.isArchiveAway = false
    await world.clock.advance(ASK_AGAIN_MS)
    expect(texts(await world.hears(ALICE))).toEqual(['first'])
  })

  test('[S5] is not asked about edges that exist no more', async () => {
    world.faults.isArchiveAway = true
    await world.editContacts('bob', ['alice', 'carol'])
    await world.hears(ALICE)
    for (const connection of [ALICE, MALLORY]) world.watching.unwatch(connection, ['bob'])
    const before = world.asked.areContacts
    await world.clock.advance(10 * ASK_AGAIN_MS)
    expect(world.asked.areContacts).toBe(before)
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })
})
