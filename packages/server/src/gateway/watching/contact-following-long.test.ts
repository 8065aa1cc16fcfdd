// Following lists that take several turns of the loop: the state of each user is told before its changes,
// whatever happens meanwhile, and a list is followed as a whole or not at all.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { ServerFrame } from '@greendot/protocol'
import { presencesIn } from '../../../../../testing/clients/hearing.ts'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
} from '../../../../../testing/worlds/gateway-world.ts'

const LONG = 1_800
const PER_TURN = 500
const ALICE = 0
const contacts = Array.from({ length: LONG }, (_, n) => `user-${n}`)

let world: GatewayWorld
let frames: ServerFrame[]
/** Runs once, as soon as the first states have been sent. */
let meanwhile: (() => void) | null

beforeEach(async () => {
  frames = []
  meanwhile = null
  const hear = (_: number, frame: ServerFrame) => {
    frames.push(frame)
    meanwhile?.()
    meanwhile = null
  }
  world = await createGatewayWorld({ viewers: ['alice'], watchLimit: 2 * LONG, hear })
  await world.archive.replaceContacts('alice', contacts, 1)
})
afterEach(() => world.close())

const follow = (isOpen = () => true) => world.done(world.watching.followContacts(ALICE, isOpen))
/** Ids in the frames of one type, sorted. */
const idsIn = (type: ServerFrame['type']) =>
  frames
    .filter((frame) => frame.type === type)
    .flatMap(presencesIn)
    .map(({ user_id }) => user_id)
    .sort()
const states = () => idsIn('presence_state')
const changes = () => idsIn('presence_change')
const followed = () => world.followed(ALICE).length

test('[W1, W2] all users are told, some at a time, and then their changes', async () => {
  expect(await follow()).toBeNull()
  expect(states()).toEqual(contacts.toSorted())
  expect(Math.max(...frames.map((frame) => presencesIn(frame).length))).toBeLessThanOrEqual(PER_TURN)
  frames = []
  await world.setText(contacts.at(-1)!, 'here')
  await world.clock.advance(2 * FLUSH_MS)
  expect(changes()).toEqual([contacts.at(-1)!])
})

test('[W1, W9] a user that changes in between is told as a state first, and ends at the newest', async () => {
  const changed = [contacts[0]!, contacts[PER_TURN]!, contacts.at(-1)!]
  meanwhile = () => {
    for (const userId of changed) world.write(userId, `new ${userId}`)
  }
  await follow()
  await world.clock.advance(2 * FLUSH_MS)
  for (const userId of changed) {
    const about = frames.flatMap((frame) =>
      presencesIn(frame)
        .filter(({ user_id }) => user_id === userId)
        .map(({ custom_status }) => ({ type: frame.type, text: custom_status?.text })),
    )
    expect(about[0]!.type).toBe('presence_state')
    expect(about.at(-1)!.text).toBe(`new ${userId}`)
  }
})

test('[W1, W2] a list of other users altogether: the former ones are told as version 0, the new ones as states', async () => {
  await follow()
  frames = []
  const others = contacts.map((userId) => `other-${userId}`)
  await world.archive.replaceContacts('alice', others, 2)
  world.watching.learn('alice', { privacy: null, contactsAt: world.nextStamp() })
  await world.clock.advance(2 * FLUSH_MS)
  expect(changes()).toEqual(contacts.toSorted())
  expect(states()).toEqual(others.toSorted())
  expect(followed()).toBe(LONG)
})

test('[W1, C7] a list that fails half-way is not followed at all, and the states told are taken back', async () => {
  meanwhile = () => {
    world.faults.isArchiveAway = true
    world.faults.isStoreAway = true
  }
  await expect(follow()).rejects.toThrow()
  expect(states().length).toBeGreaterThanOrEqual(PER_TURN)
  expect(changes()).toEqual(states())
  expect([followed(), world.watching.targetCount()]).toEqual([0, 0])
})

test('[W1] a connection that ends meanwhile leaves nothing behind', async () => {
  let isOpen = true
  meanwhile = () => {
    isOpen = false
    world.endViewer(ALICE)
  }
  expect(await follow(() => isOpen)).toBeNull()
  expect(states()).toHaveLength(PER_TURN)
  expect([followed(), world.watching.targetCount(), world.interner.size()]).toEqual([0, 0, 0])
})
