// Following a contact list: edits while it is read, an archive that fails, a limit that is reached.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { ServerFrame } from '@greendot/protocol'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
  STREAM_TIMERS,
} from '../../../../../testing/worlds/gateway-world.ts'

const READ_AGAIN_MS = 1_000
const LIMIT = 4
const ALICE = 0

let world: GatewayWorld
let isOpen: boolean
let frames: ServerFrame[]
let isSlow: boolean

beforeEach(async () => {
  ;[isOpen, frames, isSlow] = [true, [], false]
  const hear = (_: number, frame: ServerFrame) => {
    frames.push(frame)
    return isSlow ? 'full' : 'sent'
  }
  world = await createGatewayWorld({ viewers: ['alice'], watchLimit: LIMIT, hear })
})
afterEach(() => world.close())

const beginFollow = () => world.watching.followContacts(ALICE, () => isOpen)
const follow = () => world.done(beginFollow())
const list = (...contactIds: string[]) => world.archive.replaceContacts('alice', contactIds, 1)
const hearOfEdit = (contactsAt = world.nextStamp(), userId = 'alice') =>
  world.watching.learn(userId, { privacy: null, contactsAt })

/** The list is edited, and the gateway hears of it. */
async function edit(...contactIds: string[]): Promise<void> {
  await list(...contactIds)
  hearOfEdit()
  await world.clock.advance(2 * FLUSH_MS)
}

/** What was sent since this was last asked, in short: `+bob` for a state, `-bob` for one who left the list, `bob=0` for a change. */
function told(): string[] {
  return frames.splice(0).flatMap((frame) => {
    if (frame.type === 'error') return [frame.code]
    if (frame.type === 'contacts_removed') return frame.user_ids.map((userId) => `-${userId}`)
    if (frame.type === 'presence_state') return frame.states.map(({ user_id }) => `+${user_id}`)
    if (frame.type !== 'presence_change') return [frame.type]
    return frame.changes.map(({ user_id, version, custom_status }) =>
      version === 0 ? `${user_id}=0` : `${user_id}=${custom_status?.text}`,
    )
  })
}

const followed = () => world.followed(ALICE)
const readings = () => world.asked.contactsOf

describe('following a list', () => {
  test('[W1] tells all users on it, then new ones as a state and removed ones as version 0', async () => {
    await list('bob', 'carol')
    expect(await follow()).toBeNull()
    expect(told()).toEqual(['+bob', '+carol'])
    await edit('carol', 'dave')
    expect(told()).toEqual(['-bob', 'bob=0', '+dave'])
    await world.setText('bob', 'unheard')
    await world.setText('dave', 'heard')
    await world.clock.advance(2 * FLUSH_MS)
    expect(told()).toEqual(['dave=heard'])
  })

  test('[W6] for a connection that takes no data a list is not read however often it is edited, and once when there is room', async () => {
    await list('bob')
    await follow()
    told()
    isSlow = true
    await edit('bob', 'carol')
    expect(told()).toEqual(['+carol'])
    const before = readings()
    for (let round = 0; round < 10; round++) {
      await edit('bob')
      await edit('bob', 'dave')
    }
    expect(told()).toEqual([])
    expect(readings()).toBe(before)
    isSlow = false
    world.delivery.unblock(ALICE)
    world.watching.unblocked(ALICE)
    await world.clock.advance(2 * FLUSH_MS)
    expect(told()).toEqual(['-carol', 'carol=0', '+dave'])
    expect(readings()).toBe(before + 1)
  })

  test('[W1] an empty list is answered too, and followed', async () => {
    await follow()
    expect(frames.splice(0)).toEqual([{ type: 'presence_state', states: [] }])
    await edit('bob')
    expect(told()).toEqual(['+bob'])
    await edit()
    expect(told()).toEqual(['-bob', 'bob=0'])
    expect(world.watching.targetCount()).toBe(0)
  })

  test('[W1] a user that the client named as well is still watched after leaving the list', async () => {
    await list('bob')
    await world.watch(ALICE, ['bob'])
    await follow()
    told()
    await edit()
    expect(told()).toEqual(['-bob'])
    await world.setText('bob', 'still here')
    await world.clock.advance(2 * FLUSH_MS)
    expect(told()).toEqual(['bob=still here'])
  })

  test('[W1] an edit that is known already, older or of another user is not read again', async () => {
    await follow()
    await edit('bob')
    const before = readings()
    const edition = world.nextStamp()
    for (const contactsAt of [edition, edition, edition - 1]) hearOfEdit(contactsAt)
    hearOfEdit(edition + 1, 'bob')
    await world.clock.advance(FLUSH_MS)
    expect(readings()).toBe(before + 1)
  })

  test('[W1, C7] after a refresh every list is read again, because edits may have been missed', async () => {
    await list('bob')
    await follow()
    await list('bob', 'carol')
    told()
    await world.done(world.watching.refresh())
    await world.clock.advance(FLUSH_MS)
    expect(told()).toEqual(['+carol'])
  })
})

describe('edits while the list is read', () => {
  test('[W1] an edit during the first reading is not lost', async () => {
    await list('bob')
    const open = world.closeGate()
    const following = beginFollow()
    await world.clock.advance(0)
    await edit('carol')
    expect(told()).toEqual([])
    open()
    await world.done(following)
    await world.clock.advance(FLUSH_MS)
    expect(told()).toEqual(['+bob', '-bob', 'bob=0', '+carol'])
    expect(followed()).toEqual(['carol'])
  })

  test('[W1] many edits are read once more, and what is watched is the newest list', async () => {
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
    expect(followed()).toEqual(['dave', 'erin'])
    expect(told().filter((one) => !one.includes('bob'))).toEqual(['+dave', '+erin'])
  })

  test('[W1] a connection that ends meanwhile is told nothing and leaves nothing behind', async () => {
    const open = world.closeGate()
    const following = beginFollow()
    await edit('bob', 'carol')
    isOpen = false
    world.endViewer(ALICE)
    open()
    await world.done(following)
    await world.clock.advance(10 * READ_AGAIN_MS)
    expect([frames, world.watching.targetCount(), world.interner.size()]).toEqual([[], 0, 0])
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })

  test.each([false, true])(
    '[W1] nor does it change what the next connection with its number follows (failing: %j)',
    async (fails) => {
      await list('bob')
      const open = world.closeGate()
      const abandoned = world.watching.followContacts(ALICE, () => false)
      await world.clock.advance(0)
      world.faults.gate = null
      world.replaceViewer(ALICE, 'dave')
      await world.archive.addContacts('dave', ['erin'], 1)
      await follow()
      world.faults.isArchiveAway = fails
      open()
      await world.done(abandoned).catch(() => {})
      world.faults.isArchiveAway = false
      expect([told(), followed()]).toEqual([['+erin'], ['erin']])
      await world.archive.addContacts('dave', ['frank'], 1)
      hearOfEdit(world.nextStamp(), 'dave')
      await world.clock.advance(FLUSH_MS)
      expect(told()).toEqual(['+frank'])
    },
  )

  test('[W1] after the connection has ended the list is not read any more', async () => {
    await list('bob')
    await follow()
    world.endViewer(ALICE)
    told()
    const before = readings()
    await edit('carol')
    await world.done(world.watching.refresh())
    await world.clock.advance(FLUSH_MS)
    expect([told(), readings()]).toEqual([[], before])
  })
})

describe('an archive that fails', () => {
  test('[W1, C7] an edit is read once the archive answers, and until then the former list is followed', async () => {
    await world.setText('bob', 'hello')
    await list('bob')
    await follow()
    told()
    world.faults.isArchiveAway = true
    await edit('carol')
    await world.clock.advance(3 * READ_AGAIN_MS)
    await world.setText('bob', 'still followed')
    await world.clock.advance(2 * FLUSH_MS)
    expect(told()).toEqual(['bob=still followed'])
    world.faults.isArchiveAway = false
    await world.clock.advance(READ_AGAIN_MS)
    expect(told()).toEqual(['-bob', 'bob=0', '+carol'])
    const before = readings()
    await world.clock.advance(10 * READ_AGAIN_MS)
    expect(readings()).toBe(before)
  })

  test('[W1, C7] the list is read again once a second, not more often', async () => {
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
    expect(world.watching.targetCount()).toBe(0)
    world.faults.isArchiveAway = false
    expect(await follow()).toBeNull()
    expect(told()).toEqual(['+bob'])
  })

  test('[W1, C7] after a first reading that failed nothing is followed', async () => {
    world.faults.isArchiveAway = true
    await expect(follow()).rejects.toThrow('the database is gone')
    world.faults.isArchiveAway = false
    await edit('bob')
    expect([told(), world.watching.targetCount()]).toEqual([[], 0])
  })

  test('[W1, C7] the list is not read again once the connection has ended', async () => {
    await follow()
    world.faults.isArchiveAway = true
    await edit('bob')
    isOpen = false
    world.endViewer(ALICE)
    await world.clock.advance(READ_AGAIN_MS)
    const before = readings()
    await world.clock.advance(10 * READ_AGAIN_MS)
    expect(readings()).toBe(before)
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })
})

describe('the limit', () => {
  test('[W1] a list that fits exactly is followed, and of one that is longer nothing', async () => {
    await list('a', 'b', 'c', 'd')
    expect(await follow()).toBeNull()
    world.replaceViewer(ALICE, 'alice')
    told()
    await list('a', 'b', 'c', 'd', 'e')
    expect(await follow()).toMatchObject({ code: 'watch_limit' })
    expect([told(), world.watching.targetCount()]).toEqual([[], 0])
    // Nor later: the client was told that the list is not followed.
    await edit('a')
    expect([told(), world.watching.targetCount()]).toEqual([[], 0])
  })

  test('[W1] users that the client named count too, but no user counts twice', async () => {
    await world.watch(ALICE, ['a', 'x', 'y'])
    await list('a', 'b')
    expect(await follow()).toBeNull()
    told()
    await edit('a', 'b', 'c')
    expect(told()).toEqual(['watch_limit'])
  })

  test('[W1] a list that outgrows it is an error, and the users that were followed stay', async () => {
    await list('m', 'n', 'o')
    await follow()
    told()
    await edit('a', 'b', 'm', 'n', 'o')
    expect(told()).toEqual(['watch_limit'])
    // Longer by more than is read, and the followed users come last in the order of ids.
    await edit('a', 'b', 'c', 'd', 'e', 'm', 'n', 'o')
    expect(told()).toEqual(['watch_limit'])
    expect(followed()).toEqual(['m', 'n', 'o'])
  })

  test('[W1] when it fits again it is followed again', async () => {
    await list('a', 'b')
    await follow()
    await edit('a', 'b', 'c', 'd', 'e')
    told()
    await edit('b', 'e')
    expect(told()).toEqual(['-a', 'a=0', '+e'])
    expect(followed()).toEqual(['b', 'e'])
  })
})
