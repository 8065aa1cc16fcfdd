// Watching somebody while it is in doubt who may see them, or after the store lost what they chose: with
// the real watches, sights, tracker, store and archive; only answers about contact lists can be held up.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { createGatewayWorld, FLUSH_MS, type GatewayWorld } from '../../../../../testing/gateway-world.ts'
import { NO_PRIVACY_CHOSEN } from '../../presence/core/privacy.ts'
import { NAMED } from '../delivery/edge-flags.ts'

const [ALICE, MALLORY] = [0, 1]
const REMEMBERED_MS = 60_000
const NOBODY = { status: 'offline', version: 0 }

let world: GatewayWorld
let heard: Presence[][]

beforeEach(async () => {
  heard = [[], []]
  world = await createGatewayWorld({
    viewers: ['alice', 'mallory'],
    hear: (connection, frame) => void heard[connection]!.push(...JSON.parse(frame).changes),
  })
})
afterEach(() => world.close())

async function beginToWatch(connection: number): Promise<Presence[]> {
  const options = { known: {}, why: NAMED, isOpen: () => true } as const
  const states = await world.watches.watch(connection, ['bob'], options)
  return states!.map((json): Presence => JSON.parse(json))
}
const watch = (connection: number) => world.done(beginToWatch(connection))

/** What came since this was last asked, after everything has calmed down. */
async function hears(connection: number): Promise<Presence[]> {
  await world.clock.advance(2 * FLUSH_MS)
  return heard[connection]!.splice(0)
}

/** Bob shows himself to contacts; alice is one and watches him, mallory is none and watches him too. */
async function guardedBob(): Promise<void> {
  await world.editContacts('bob', ['alice'])
  await world.choose('bob', { statusVisibility: 'contacts', lastSeenVisibility: 'contacts' })
  await world.setText('bob', 'first')
  expect(await watch(ALICE)).toMatchObject([{ custom_status: { text: 'first' } }])
  expect(await watch(MALLORY)).toMatchObject([NOBODY])
}

/** Alice asks again, and before she is answered the list is edited; returns her answer and the way to settle it. */
async function askAgain(contactIds: readonly string[], text = 'first') {
  // So long that nobody remembers that she is a contact.
  await world.clock.advance(REMEMBERED_MS)
  const answer = world.closeGate()
  const answered = beginToWatch(ALICE)
  await world.clock.advance(0)
  const settle = world.closeGate()
  await world.editContacts('bob', contactIds)
  await world.setText('bob', text)
  answer()
  return { answered: await world.done(answered), settle }
}

describe('asking again while it is in doubt', () => {
  test('[S6] whoever may see them is told when it is settled, once, though nothing is different', async () => {
    await guardedBob()
    const { answered, settle } = await askAgain(['alice', 'carol'])
    expect(answered).toEqual([])
    expect(await hears(ALICE)).toEqual([])
    settle()
    expect(await hears(ALICE)).toMatchObject([{ custom_status: { text: 'first' } }])
    expect(await hears(ALICE)).toEqual([])
  })

  test('[S6] whoever loses the right by it is told so, and nothing of what was said meanwhile', async () => {
    await guardedBob()
    const { answered, settle } = await askAgain(['carol'], 'not for alice')
    expect(answered).toEqual([])
    settle()
    expect(await hears(ALICE)).toMatchObject([NOBODY])
  })

  test('[S6] whoever saw nothing is answered as ever, and told nothing when it is settled', async () => {
    await guardedBob()
    const answer = world.closeGate()
    const answered = beginToWatch(MALLORY)
    await world.clock.advance(0)
    const settle = world.closeGate()
    await world.editContacts('bob', ['alice', 'carol'])
    await world.setText('bob', 'not for mallory')
    expect(world.watches.isSettled(MALLORY)).toBe(true)
    answer()
    expect(await world.done(answered)).toMatchObject([NOBODY])
    settle()
    expect(await hears(MALLORY)).toEqual([])
  })

  test('[S5] whoever saw nothing and may see by it is told the truth, once', async () => {
    await guardedBob()
    const open = world.closeGate()
    await world.editContacts('bob', ['alice', 'mallory'])
    await world.setText('bob', 'for mallory too')
    expect(await hears(MALLORY)).toEqual([])
    open()
    expect(await hears(MALLORY)).toMatchObject([{ custom_status: { text: 'for mallory too' } }])
  })
})

test('[S5] a viewer who chooses something for themselves meanwhile is not left in doubt for good', async () => {
  await guardedBob()
  const open = world.closeGate()
  await world.editContacts('bob', ['alice', 'carol'])
  await world.setText('bob', 'second')
  const alice = world.interner.find('alice')
  const privacy = { ...world.discretions.of(world.interner.find('bob')).privacy!, setAt: world.nextStamp() }
  // It concerns only what alice sees of reciprocal people, and bob is none.
  if (world.discretions.learn(alice, { privacy, contactsAt: 0 })) world.sights.review(alice)
  open()
  expect(await hears(ALICE)).toMatchObject([{ custom_status: { text: 'second' } }])
  expect(world.watches.isSettled(ALICE)).toBe(true)
})

test('[S5, C7] a store that lost what somebody chose is told again, and nobody sees them meanwhile', async () => {
  await world.setText('bob', 'first')
  await watch(MALLORY)
  await world.choose('bob', { statusVisibility: 'nobody' })
  expect(await hears(MALLORY)).toMatchObject([NOBODY])
  const [stored] = await world.store.load(['bob'])
  const { record, revision } = stored!
  // As an older copy of the store would have it.
  await world.store.commit([
    {
      userId: 'bob',
      expectedRevision: revision,
      record: { ...record, privacy: null },
      dueAt: null,
      retainUntil: null,
    },
  ])
  await world.done(world.watches.refresh())
  await world.setText('bob', 'unseen')
  const [healed] = await world.store.load(['bob'])
  expect(healed!.record.privacy).toMatchObject({ statusVisibility: 'nobody' })
  expect(await hears(MALLORY)).toEqual([])
})

describe('somebody with more watchers than are looked at in one turn', () => {
  const CROWD = 2_500

  async function crowd(): Promise<number[]> {
    await world.close()
    const frames = new Array<number>(CROWD).fill(0)
    const viewers = Array.from({ length: CROWD }, (_, n) => `viewer-${n}`)
    world = await createGatewayWorld({
      viewers,
      hear(connection, frame) {
        frames[connection]!++
        for (const { version } of JSON.parse(frame).changes as Presence[]) expect(version).toBe(0)
      },
    })
    await world.setText('bob', 'first')
    for (const connection of viewers.keys()) await watch(connection)
    return frames
  }

  test('[S5, G3] everybody is told that they see them no more, once', async () => {
    const frames = await crowd()
    await world.choose('bob', { statusVisibility: 'nobody' })
    await world.setText('bob', 'for nobody')
    await world.clock.advance(2 * FLUSH_MS)
    expect(frames.every((count) => count === 1)).toBe(true)
  })

  test('[S5, G3] the loop is handed back between slices, and nobody hears by the old right meanwhile', async () => {
    const frames = await crowd()
    const bob = world.interner.find('bob')
    const privacy = {
      ...NO_PRIVACY_CHOSEN,
      statusVisibility: 'nobody',
      setAt: world.nextStamp(),
    } as const
    world.discretions.learn(bob, { privacy, contactsAt: 0 })
    world.sights.review(bob)
    const inDoubt = () => frames.filter((_, connection) => !world.watches.isSettled(connection)).length
    const left = [inDoubt()]
    // Comes between two slices, as anything else would.
    const look = () => {
      left.push(inDoubt())
      if (left.at(-1)! > 0) world.clock.soon(look)
    }
    world.clock.soon(look)
    await world.clock.advance(0)
    expect(left).toEqual([CROWD - 1_000, CROWD - 2_000, 0])
    await world.clock.advance(2 * FLUSH_MS)
    expect(frames.every((count) => count === 1)).toBe(true)
  })
})
