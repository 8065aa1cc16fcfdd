// Following a contact list through edits that come while it is read, an archive that fails and a limit
// that is reached. Everything behind it is real; only reading the list can be slow or fail.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Failure, Presence } from '@greendot/protocol'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
  STREAM_TIMERS,
} from '../../../../../testing/gateway-world.ts'
import { NAMED } from '../delivery/edge-flags.ts'

const READ_AGAIN_MS = 1_000
const LIMIT = 4
const ALICE = 0

type Said =
  | { type: 'presence_state'; states: Presence[] }
  | { type: 'presence_change'; changes: Presence[] }
  | ({ type: 'error' } & Failure)

let world: GatewayWorld
let isOpen: boolean
let said: Said[]

beforeEach(async () => {
  ;[isOpen, said] = [true, []]
  const hear = (_: number, frame: string) => void said.push(JSON.parse(frame))
  world = await createGatewayWorld({ viewers: ['alice'], watchLimit: LIMIT, hear })
})
afterEach(() => world.close())

const follow = () => world.done(world.following.follow(ALICE, () => isOpen))
const name = (...userIds: string[]) =>
  world.done(world.watches.watch(ALICE, userIds, { known: {}, why: NAMED, isOpen: () => isOpen }))
const list = (...contactIds: string[]) => world.archive.replaceContacts('alice', contactIds, 1)

/** The list is other than before, and the gateway hears of it. */
async function edit(...contactIds: string[]): Promise<void> {
  await list(...contactIds)
  world.following.edited([ALICE], world.nextStamp())
  await world.clock.advance(2 * FLUSH_MS)
}

/** What was said since this was last asked, in short: `+bob` for a state, `bob=0` for a change. */
function news(): string[] {
  return said.splice(0).flatMap((frame) => {
    if (frame.type === 'error') return [frame.code]
    if (frame.type === 'presence_state') return frame.states.map(({ user_id }) => `+${user_id}`)
    return frame.changes.map(({ user_id, version, custom_status }) =>
      version === 0 ? `${user_id}=0` : `${user_id}=${custom_status?.text}`,
    )
  })
}

const watched = () => world.watches.followed(ALICE).sort()
const readings = () => world.asked.contactsOf

describe('following a list', () => {
  test('[W1] first everybody on it, then who is new as a state and who left as version 0', async () => {
    await list('bob', 'carol')
    expect(await follow()).toBeNull()
    expect(news()).toEqual(['+bob', '+carol'])
    await edit('carol', 'dave')
    expect(news()).toEqual(['bob=0', '+dave'])
    await world.setText('bob', 'unheard')
    await world.setText('dave', 'heard')
    await world.clock.advance(2 * FLUSH_MS)
    expect(news()).toEqual(['dave=heard'])
  })

  test('[W1] an empty list is answered too, and followed', async () => {
    await follow()
    expect(said).toEqual([{ type: 'presence_state', states: [] }])
    news()
    await edit('bob')
    expect(news()).toEqual(['+bob'])
    await edit()
    expect(news()).toEqual(['bob=0'])
    expect(world.watches.targets()).toBe(0)
  })

  test('[W1] who is named by the client as well stays when they leave the list', async () => {
    await list('bob')
    await name('bob')
    await follow()
    news()
    await edit()
    expect(news()).toEqual([])
    await world.setText('bob', 'still here')
    await world.clock.advance(2 * FLUSH_MS)
    expect(news()).toEqual(['bob=still here'])
  })

  test('[W1] an edit that is known already, or older, is not read again', async () => {
    await follow()
    await edit('bob')
    const before = readings()
    const edition = world.nextStamp()
    world.following.edited([ALICE], edition)
    world.following.edited([ALICE], edition)
    world.following.edited([ALICE], edition - 1)
    world.following.edited([ALICE + 1], edition + 1)
    await world.clock.advance(FLUSH_MS)
    expect(readings()).toBe(before + 1)
  })

  test('[W1] when edits may have been missed, every list is read again', async () => {
    await list('bob')
    await follow()
    await list('bob', 'carol')
    news()
    world.following.refresh()
    await world.clock.advance(FLUSH_MS)
    expect(news()).toEqual(['+carol'])
  })
})

describe('edits while the list is read', () => {
  test('[W1] an edit during the first reading is not lost', async () => {
    await list('bob')
    const open = world.closeGate()
    const followed = world.following.follow(ALICE, () => isOpen)
    await world.clock.advance(0)
    await edit('carol')
    expect(news()).toEqual([])
    open()
    await world.done(followed)
    await world.clock.advance(FLUSH_MS)
    expect(news()).toEqual(['+bob', 'bob=0', '+carol'])
    expect(watched()).toEqual(['carol'])
  })

  test('[W1] however many there are, the list is read once more, and ends as it is', async () => {
    await follow()
    const open = world.closeGate()
    await edit('bob')
    const before = readings()
    for (const contactIds of [['carol'], ['carol', 'dave'], ['dave'], ['erin', 'dave']])
      await edit(...contactIds)
    expect(readings()).toBe(before)
    open()
    await world.clock.advance(2 * FLUSH_MS)
    expect(readings()).toBe(before + 1)
    expect(watched()).toEqual(['dave', 'erin'])
    expect(news().filter((one) => !one.includes('bob'))).toEqual(['+dave', '+erin'])
  })

  test('[W1] a connection that ends meanwhile is told nothing and leaves nothing behind', async () => {
    const open = world.closeGate()
    const followed = world.following.follow(ALICE, () => isOpen)
    await edit('bob', 'carol')
    isOpen = false
    world.following.clear(ALICE)
    world.watches.clear(ALICE)
    open()
    await world.done(followed)
    await world.clock.advance(10 * READ_AGAIN_MS)
    expect([said, world.watches.targets(), world.interner.size()]).toEqual([[], 0, 1])
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })

  test.each([false, true])(
    '[W1] nor does it meddle with whoever has its place by then (failing: %j)',
    async (fails) => {
      await list('bob')
      const open = world.closeGate()
      const abandoned = world.following.follow(ALICE, () => false)
      await world.clock.advance(0)
      world.following.clear(ALICE)
      world.faults.gate = null
      world.replaceViewer(ALICE, 'dave')
      await world.archive.addContacts('dave', ['erin'], 1)
      await follow()
      world.faults.isArchiveAway = fails
      open()
      await world.done(abandoned).catch(() => {})
      world.faults.isArchiveAway = false
      expect([news(), watched()]).toEqual([['+erin'], ['erin']])
      await world.archive.addContacts('dave', ['frank'], 1)
      world.following.edited([ALICE], world.nextStamp())
      await world.clock.advance(FLUSH_MS)
      expect(news()).toEqual(['+frank'])
    },
  )

  test('[W1] after it has ended, edits concern nobody', async () => {
    await list('bob')
    await follow()
    world.following.clear(ALICE)
    news()
    const before = readings()
    await edit('carol')
    world.following.refresh()
    await world.clock.advance(FLUSH_MS)
    expect([news(), readings()]).toEqual([[], before])
  })
})

describe('an archive that fails', () => {
  test('[W1, C7] an edit is read as soon as it can be, and until then nothing changes', async () => {
    await list('bob')
    await follow()
    news()
    world.faults.isArchiveAway = true
    await edit('carol')
    await world.clock.advance(3 * READ_AGAIN_MS)
    await world.setText('bob', 'still followed')
    await world.clock.advance(2 * FLUSH_MS)
    expect(news()).toEqual(['bob=still followed'])
    world.faults.isArchiveAway = false
    await world.clock.advance(READ_AGAIN_MS)
    expect(news()).toEqual(['bob=0', '+carol'])
    const before = readings()
    await world.clock.advance(10 * READ_AGAIN_MS)
    expect(readings()).toBe(before)
  })

  test('[W1, C7] it is tried once a second, not more', async () => {
    await follow()
    world.faults.isArchiveAway = true
    await edit('bob')
    await edit('carol')
    const before = readings()
    await world.clock.advance(5 * READ_AGAIN_MS)
    expect(readings() - before).toBe(5)
  })

  test('[W1, C7] a first reading that fails is an error, and the client may ask again', async () => {
    await list('bob')
    world.faults.isArchiveAway = true
    await expect(follow()).rejects.toThrow('the database is gone')
    expect(world.watches.targets()).toBe(0)
    world.faults.isArchiveAway = false
    expect(await follow()).toBeNull()
    expect(news()).toEqual(['+bob'])
  })

  test('[W1, C7] who was told that it failed does not follow by surprise', async () => {
    world.faults.isArchiveAway = true
    await expect(follow()).rejects.toThrow('the database is gone')
    world.faults.isArchiveAway = false
    await edit('bob')
    expect([news(), world.watches.targets()]).toEqual([[], 0])
  })

  test('[W1, C7] a connection that ends while it is tried again ends the trying', async () => {
    await follow()
    world.faults.isArchiveAway = true
    await edit('bob')
    isOpen = false
    world.following.clear(ALICE)
    await world.clock.advance(READ_AGAIN_MS)
    const before = readings()
    await world.clock.advance(10 * READ_AGAIN_MS)
    expect(readings()).toBe(before)
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })
})

describe('the limit', () => {
  test('[W1] a list that fits exactly is followed, one more is refused and nothing is', async () => {
    await list('a', 'b', 'c', 'd')
    expect(await follow()).toBeNull()
    world.following.clear(ALICE)
    world.watches.clear(ALICE)
    news()
    await list('a', 'b', 'c', 'd', 'e')
    expect(await follow()).toMatchObject({ code: 'watch_limit' })
    expect([news(), world.watches.targets()]).toEqual([[], 0])
    // Nor later: the client was told that it does not follow.
    await edit('a')
    expect([news(), world.watches.targets()]).toEqual([[], 0])
  })

  test('[W1] people the client named count too, but nobody counts twice', async () => {
    await name('a', 'x', 'y')
    await list('a', 'b')
    expect(await follow()).toBeNull()
    news()
    await edit('a', 'b', 'c')
    expect(news()).toEqual(['watch_limit'])
  })

  test('[W1] a list that outgrows it is an error; who was followed and still is on it stays', async () => {
    await list('m', 'n', 'o')
    await follow()
    news()
    await edit('a', 'b', 'm', 'n', 'o')
    expect(news()).toEqual(['watch_limit'])
    // Longer by more than is looked at, and those who are followed come last in the order of ids.
    await edit('a', 'b', 'c', 'd', 'e', 'm', 'n', 'o')
    expect(news()).toEqual(['watch_limit'])
    expect(watched()).toEqual(['m', 'n', 'o'])
  })

  test('[W1] when it fits again it is followed again', async () => {
    await list('a', 'b')
    await follow()
    await edit('a', 'b', 'c', 'd', 'e')
    news()
    await edit('b', 'e')
    expect(news()).toEqual(['a=0', '+e'])
    expect(watched()).toEqual(['b', 'e'])
  })
})
