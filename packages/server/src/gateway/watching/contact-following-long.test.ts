// Following lists that take several turns of the loop: everybody on them is told before anything that happens
// to them, whatever is edited, said or lost meanwhile, and a list is followed as a whole or not at all.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { createGatewayWorld, FLUSH_MS, type GatewayWorld } from '../../../../../testing/gateway-world.ts'

const LONG = 1_800
const PER_TURN = 500
const ALICE = 0
const everybody = Array.from({ length: LONG }, (_, n) => `user-${n}`)

let world: GatewayWorld
let frames: { type: string; states?: Presence[]; changes?: Presence[] }[]
/** What happens as soon as the first of them have been told. */
let meanwhile: (() => void) | null

beforeEach(async () => {
  frames = []
  meanwhile = null
  const hear = (_: number, frame: string) => {
    frames.push(JSON.parse(frame))
    meanwhile?.()
    meanwhile = null
  }
  world = await createGatewayWorld({ viewers: ['alice'], watchLimit: 2 * LONG, hear })
  await world.archive.replaceContacts('alice', everybody, 1)
})
afterEach(() => world.close())

const follow = () => world.done(world.following.follow(ALICE, () => true))
const idsOf = (people: Presence[] | undefined) => (people ?? []).map(({ user_id }) => user_id)
const told = () => frames.flatMap(({ states }) => idsOf(states))
const watched = () => world.watches.followed(ALICE).length

test('[W1, W2] everybody is told, some at a time, and then what changes', async () => {
  expect(await follow()).toBeNull()
  expect(told().sort()).toEqual([...everybody].sort())
  expect(Math.max(...frames.map(({ states }) => states!.length))).toBeLessThanOrEqual(PER_TURN)
  frames = []
  await world.setText(everybody.at(-1)!, 'here')
  await world.clock.advance(2 * FLUSH_MS)
  expect(frames.flatMap(({ changes }) => idsOf(changes))).toEqual([everybody.at(-1)!])
})

test('[W1, W9] whoever changes in between is told as a state first, and ends as they are', async () => {
  const changed = [everybody[0]!, everybody[PER_TURN]!, everybody.at(-1)!]
  meanwhile = () => {
    for (const userId of changed) world.write(userId, `new ${userId}`)
  }
  await follow()
  await world.clock.advance(2 * FLUSH_MS)
  for (const userId of changed) {
    const about = frames.flatMap(({ type, states, changes }) =>
      [...(states ?? []), ...(changes ?? [])]
        .filter(({ user_id }) => user_id === userId)
        .map(({ custom_status }) => ({ type, text: custom_status?.text })),
    )
    expect(about[0]!.type).toBe('presence_state')
    expect(about.at(-1)!.text).toBe(`new ${userId}`)
  }
})

test('[W1, W2] a list that is another one altogether: all are forgotten, and all are told', async () => {
  await follow()
  frames = []
  const others = everybody.map((userId) => `other-${userId}`)
  await world.archive.replaceContacts('alice', others, 2)
  world.following.edited([ALICE], world.nextStamp())
  await world.clock.advance(2 * FLUSH_MS)
  expect(frames.flatMap(({ changes }) => idsOf(changes)).sort()).toEqual([...everybody].sort())
  expect(told().sort()).toEqual([...others].sort())
  expect(watched()).toBe(LONG)
})

test('[W1, C7] what fails half-way is not followed at all, and what was told is taken back', async () => {
  meanwhile = () => {
    world.faults.isArchiveAway = true
    world.faults.isStoreAway = true
  }
  await expect(follow()).rejects.toThrow()
  expect(told().length).toBeGreaterThanOrEqual(PER_TURN)
  expect(watched()).toBe(0)
  expect(frames.flatMap(({ changes }) => idsOf(changes)).sort()).toEqual(told().sort())
  expect(world.watches.targets()).toBe(0)
})

test('[W1] a connection that ends meanwhile leaves nothing behind', async () => {
  let isOpen = true
  meanwhile = () => {
    isOpen = false
    world.following.clear(ALICE)
    world.watches.clear(ALICE)
  }
  expect(await world.done(world.following.follow(ALICE, () => isOpen))).toBeNull()
  expect(told()).toHaveLength(PER_TURN)
  expect(watched()).toBe(0)
  expect(world.watches.targets()).toBe(0)
})
