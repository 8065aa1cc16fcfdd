// What each viewer may see on the watch edges, decided when an edge is made and again when privacy changes: a
// viewer is told once, and only if what the viewer sees is different.
import { afterEach, describe, expect, test } from 'bun:test'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
  type GatewayWorldOptions,
} from '../../../../../testing/worlds/gateway-world.ts'
import {
  ALICE,
  CONTACTS_ONLY,
  createContactsOnlyWorld,
  MALLORY,
  texts,
  versions,
} from '../../../../../testing/worlds/watching-world.ts'
import type { HistogramReading } from '../../platform/measuring/histogram.ts'
import { NO_PRIVACY_CHOSEN } from '../../presence/core/privacy.ts'

let world: GatewayWorld
async function begin(options: GatewayWorldOptions = {}): Promise<void> {
  world = await createGatewayWorld({ viewers: ['alice', 'mallory'], ...options })
}
async function beginWithContactsOnly(): Promise<void> {
  world = await createContactsOnlyWorld()
}
afterEach(() => world.close())

const observedIn = ({ counts }: HistogramReading): number => counts.reduce((sum, count) => sum + count)
const observed = (): number => observedIn(world.tally.propagation.read())

describe('the decision for a new edge', () => {
  test('[S5] asks the archive only where a contact list makes a difference', async () => {
    await begin()
    await world.choose('choosy', { ...CONTACTS_ONLY, allow: ['alice'] })
    await world.choose('denying', { deny: ['alice'] })
    await world.watch(ALICE, ['open', 'choosy', 'denying', 'alice'])
    expect(world.asked.areContacts).toBe(0)
    await world.choose('guarded', CONTACTS_ONLY)
    await world.watch(ALICE, ['guarded'])
    expect(world.asked.areContacts).toBe(1)
  })

  test('[S5] a viewer that sees nothing is told nothing, and one that sees less is told less', async () => {
    await begin({ viewers: ['alice', 'mallory', 'bob'] })
    await world.visit('bob')
    await world.choose('bob', { statusVisibility: 'contacts', lastSeenVisibility: 'nobody' })
    await world.editContacts('bob', ['alice'])
    for (const connection of [0, 1, 2]) await world.watch(connection, ['bob'])
    await world.setText('bob', 'hello')
    expect(await world.hears(0)).toMatchObject([{ last_seen: null, custom_status: { text: 'hello' } }])
    expect(await world.hears(1)).toEqual([])
    // Users see all of themselves.
    const [own] = await world.hears(2)
    expect(own).toMatchObject({ last_seen: expect.any(Number), custom_status: { text: 'hello' } })
  })

  test('[S5] hidden by the default of the server until the contact list says otherwise', async () => {
    await begin({ rules: { defaultVisibility: 'contacts', hiddenAs: null } })
    await world.archive.addContacts('bob', ['alice'], 1)
    await world.setText('bob', 'hello')
    expect(await world.watch(ALICE, ['bob'])).toMatchObject([{ status: 'offline' }])
    expect(await world.watch(MALLORY, ['bob'])).toMatchObject([{ status: null, version: 0 }])
  })
})

describe('a change of privacy', () => {
  test('[S5] a viewer that may see no more is told once, with version 0, and no other viewer', async () => {
    await beginWithContactsOnly()
    await world.choose('bob', { statusVisibility: 'nobody' })
    expect(versions(await world.hears(ALICE))).toEqual([0])
    expect(await world.hears(MALLORY)).toEqual([])
    await world.setText('bob', 'unseen')
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S5] a viewer that may see now is told the present state, and one that could before nothing', async () => {
    await beginWithContactsOnly()
    await world.choose('bob', { statusVisibility: 'everyone', lastSeenVisibility: 'everyone' })
    expect(texts(await world.hears(MALLORY))).toEqual(['first'])
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[S5] a change of what is shown of the last seen keeps the version', async () => {
    await beginWithContactsOnly()
    const [before] = await world.watch(ALICE, ['bob'])
    expect(before!.last_seen).toBeNumber()
    await world.choose('bob', { lastSeenVisibility: 'nobody' })
    expect(await world.hears(ALICE)).toEqual([{ ...before!, last_seen: null }])
    await world.choose('bob', { lastSeenVisibility: 'contacts', lastSeenPrecision: 'approximate' })
    expect(await world.hears(ALICE)).toEqual([{ ...before!, last_seen: null, last_seen_bucket: 'recently' }])
  })

  test('[S5] what the viewer shows decides about reciprocal targets, and about no others', async () => {
    await begin()
    await world.connect('alice')
    for (const userId of ['bob', 'carol', 'dave']) await world.setText(userId, 'hello')
    await world.choose('bob', { reciprocal: true })
    await world.choose('carol', { deny: ['trudy'] })
    await world.watch(ALICE, ['bob', 'carol', 'dave'])
    await world.choose('alice', { statusVisibility: 'nobody' })
    expect(await world.hears(ALICE)).toMatchObject([{ user_id: 'bob', version: 0 }])
    await world.choose('alice', { statusVisibility: 'everyone' })
    expect(await world.hears(ALICE)).toMatchObject([{ user_id: 'bob', custom_status: { text: 'hello' } }])
    expect(world.asked.areContacts).toBe(0)
  })

  test('[W8, X8] what a viewer is shown by it counts as a delivery, and not as propagation', async () => {
    await begin()
    await world.setText('bob', 'first')
    await world.watch(MALLORY, ['bob'])
    await world.clock.advance(60_000)
    const before = { counted: observed(), delivered: world.tally.deliveries }
    await world.choose('bob', { statusVisibility: 'nobody' })
    expect(versions(await world.hears(MALLORY))).toEqual([0])
    await world.choose('bob', { statusVisibility: 'everyone' })
    expect(await world.hears(MALLORY)).toMatchObject([{ custom_status: { text: 'first' } }])
    expect({ counted: observed(), delivered: world.tally.deliveries }).toEqual({
      counted: before.counted,
      delivered: before.delivered + 2,
    })
    // The next change of the user is one.
    await world.setText('bob', 'second')
    expect(await world.hears(MALLORY)).toMatchObject([{ custom_status: { text: 'second' } }])
    expect(observed()).toBe(before.counted + 1)
  })

  test('[W8, X8] a change that comes before the viewer was shown it counts once, from when it happened', async () => {
    await begin()
    await world.setText('bob', 'first')
    await world.choose('bob', { statusVisibility: 'nobody' })
    await world.watch(MALLORY, ['bob'])
    await world.clock.advance(60_000)
    const before = world.tally.propagation.read()
    await world.choose('bob', { statusVisibility: 'everyone' })
    await world.setText('bob', 'second')
    expect(await world.hears(MALLORY)).toMatchObject([{ custom_status: { text: 'second' } }])
    const { sumMs } = world.tally.propagation.read()
    expect(observed()).toBe(observedIn(before) + 1)
    expect(sumMs - before.sumMs).toBeLessThan(1_000)
  })

  test('[S5, C7] a store that lost it is told again, and no viewer sees the target meanwhile', async () => {
    await begin()
    await world.setText('bob', 'first')
    await world.watch(MALLORY, ['bob'])
    await world.choose('bob', { statusVisibility: 'nobody' })
    expect(versions(await world.hears(MALLORY))).toEqual([0])
    const [stored] = await world.store.load(['bob'])
    const { record, revision: expectedRevision } = stored!
    // As an older copy of the store would have it.
    const older = { ...record, privacy: null }
    await world.store.commit([
      { userId: 'bob', expectedRevision, record: older, dueAt: null, retainUntil: null },
    ])
    await world.done(world.watching.refresh())
    await world.setText('bob', 'unseen')
    const [healed] = await world.store.load(['bob'])
    expect(healed!.record.privacy).toMatchObject({ statusVisibility: 'nobody' })
    expect(await world.hears(MALLORY)).toEqual([])
  })
})

describe('a target with more watchers than are reviewed in one turn', () => {
  const WATCHERS = 2_500
  let frames: number[]

  async function beginWithMany(): Promise<void> {
    frames = new Array<number>(WATCHERS).fill(0)
    const viewers = Array.from({ length: WATCHERS }, (_, n) => `viewer-${n}`)
    await begin({ viewers, hear: (connection) => void frames[connection]!++ })
    await world.setText('bob', 'first')
    for (const connection of viewers.keys()) await world.watch(connection, ['bob'])
  }

  /** All watchers were told once, and that they see nothing. */
  async function expectAllToldOnce(): Promise<void> {
    expect(versions(await world.hears(0))).toEqual([0])
    for (const connection of frames.keys())
      expect([connection, frames[connection], world.watching.versionsSeen(connection, ['bob'])]).toEqual([
        connection,
        1,
        [0],
      ])
  }

  test('[S5, G3] tells all of them once that they see nothing any more', async () => {
    await beginWithMany()
    await world.choose('bob', { statusVisibility: 'nobody' })
    await world.setText('bob', 'unseen')
    await expectAllToldOnce()
  })

  test('[S5, G3] hands the loop back between slices, and holds all watchers until their review', async () => {
    await beginWithMany()
    const privacy = { ...NO_PRIVACY_CHOSEN, statusVisibility: 'nobody', setAt: world.nextStamp() } as const
    world.watching.learn('bob', { privacy, contactsAt: 0 })
    const held = () => frames.filter((_, connection) => !world.watching.hasNoHolds(connection)).length
    const left = [held()]
    // Comes between two slices, as any other work would.
    const look = () => {
      left.push(held())
      if (left.at(-1)! > 0) world.clock.soon(look)
    }
    world.clock.soon(look)
    await world.clock.advance(0)
    expect(left).toEqual([WATCHERS - 1_000, WATCHERS - 2_000, 0])
    await world.clock.advance(2 * FLUSH_MS)
    await expectAllToldOnce()
  })
})
