// Watching without a gap while reading takes its time: a change between the question and the answer is in the
// snapshot, and a watch that ends or fails leaves no edge, interest or reference behind.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createGatewayWorld, type GatewayWorld } from '../../../../../testing/worlds/gateway-world.ts'
import { texts } from '../../../../../testing/worlds/watching-world.ts'
import { NAMED } from '../delivery/watch-edges.ts'

const WATCH_LIMIT = 3
/** For this long a user without rows is not looked up again. */
const UNKNOWN_MS = 5_000
const VIEWERS = ['alice', 'mallory', 'trudy', 'eve']

let world: GatewayWorld
beforeEach(async () => {
  world = await createGatewayWorld({ viewers: VIEWERS, watchLimit: WATCH_LIMIT })
})
afterEach(() => world.close())

/** Edges, watched users, and interned users besides the viewers. */
const remains = () => [
  world.delivery.edges.count(),
  world.watching.targetCount(),
  world.interner.size() - VIEWERS.length,
]

describe('a change while the answer is on its way', () => {
  test('[W1] of a user that was unknown is in the snapshot', async () => {
    const open = world.closeGate()
    const watched = world.beginWatch(0, ['bob'])
    await world.clock.advance(0)
    // Interest is registered by now, so this is pushed while the reading still waits.
    await world.setText('bob', 'here I am')
    open()
    const [bob] = await world.done(watched)
    expect(bob?.custom_status?.text).toBe('here I am')
    expect(bob?.version).toBeGreaterThan(0)
    expect(await world.hears(0)).toEqual([])
  })

  test('[W1] of a user in the archive is in the snapshot', async () => {
    const at = world.clock.now() - 1_000
    const row = { userId: 'bob', lastSeenAt: at, status: 'offline', devices: [], version: 5 } as const
    await world.archive.writeLastSeen([{ ...row, shownCustomStatus: null, updatedAt: at }])
    const open = world.closeGate()
    const watched = world.beginWatch(0, ['bob'])
    await world.clock.advance(0)
    await world.setText('bob', 'newer')
    open()
    expect(await world.done(watched)).toMatchObject([{ custom_status: { text: 'newer' } }])
  })

  test('[W1, X6] an erasure is not undone by what was read before it', async () => {
    await world.setText('bob', 'before')
    world.faults.isStoreAway = true
    const open = world.closeGate()
    const watched = world.beginWatch(0, ['bob'])
    await world.clock.advance(0)
    const version = Number.MAX_SAFE_INTEGER
    world.watching.erase({ kind: 'erased', userId: 'bob', version, at: world.clock.now() })
    open()
    expect(await world.done(watched)).toMatchObject([{ version: 0, custom_status: null }])
  })
})

describe('a watch that comes to nothing leaves nothing behind', () => {
  test('[W1] when its connection ends while the answer is on its way', async () => {
    const open = world.closeGate()
    let isOpen = true
    const options = { known: {}, reason: NAMED, isOpen: () => isOpen } as const
    const watched = world.watching.watch(0, ['bob', 'carol'], options)
    expect(world.watching.targetCount()).toBe(2)
    isOpen = false
    world.replaceViewer(0, 'alice')
    open()
    expect(await world.done(watched)).toBeNull()
    expect(remains()).toEqual([0, 0, 0])
  })

  test('[W1, C7] when it cannot be read', async () => {
    world.faults.isStoreAway = world.faults.isArchiveAway = true
    await expect(world.watch(0, ['bob'])).rejects.toThrow('the archive does not answer')
    expect(remains()).toEqual([0, 0, 0])
  })
})

describe('watching and unwatching', () => {
  test('[W1] a user named twice is watched once, and unwatched by one unwatch', async () => {
    const states = await world.watch(0, ['bob', 'bob', 'carol', 'bob'])
    expect(states.map(({ user_id }) => user_id)).toEqual(['bob', 'carol'])
    expect(remains()).toEqual([2, 2, 2])
    world.watching.unwatch(0, ['bob', 'bob', 'carol', 'stranger'])
    expect(remains()).toEqual([0, 0, 0])
  })

  test('[W1] the limit counts each user once, and users that are watched already', async () => {
    await world.watch(0, ['bob', 'carol'])
    const failureFor = (...userIds: string[]) => world.watching.limitFailure(0, userIds)
    expect(failureFor('bob', 'dave', 'dave', 'carol')).toBeNull()
    expect(failureFor('bob', 'dave', 'erin')).toMatchObject({ code: 'watch_limit' })
    world.watching.unwatch(0, ['bob'])
    expect(failureFor('dave', 'erin')).toBeNull()
  })

  test('[W4] changes of a user that is not watched here any more are not sent', async () => {
    await world.watch(0, ['bob', 'dave'])
    world.watching.unwatch(0, ['bob'])
    await world.watch(1, ['carol'])
    await world.setText('bob', 'not watched')
    await world.setText('carol', 'watched')
    expect(await world.hears(0)).toEqual([])
    expect(await world.hears(1)).toMatchObject([{ user_id: 'carol', custom_status: { text: 'watched' } }])
  })

  test('[W9] states that the client knows are left out, by its own keys only', async () => {
    await world.setText('bob', 'hello')
    const [bob] = await world.watch(0, ['bob'])
    const { version } = bob!
    expect(await world.watch(1, ['bob'], { bob: version })).toEqual([])
    expect(await world.watch(2, ['bob'], { bob: version - 1 })).toEqual([bob!])
    // Inherited keys do not count.
    expect(await world.watch(3, ['bob'], Object.create({ bob: version }))).toEqual([bob!])
  })

  test('[W9] the versions seen are 0 for users that are hidden, unknown or not watched', async () => {
    for (const userId of ['bob', 'carol']) await world.setText(userId, 'hello')
    await world.choose('carol', { statusVisibility: 'nobody' })
    const [bob] = await world.watch(0, ['bob', 'carol', 'unknown'])
    const seen = world.watching.versionsSeen(0, ['unknown', 'bob', 'stranger', 'carol'])
    expect(seen).toEqual([0, bob!.version, 0, 0])
  })
})

describe('a gateway that may have missed messages', () => {
  const watchLate = async (connection: number) =>
    (await world.watch(connection, ['bob'])).map(({ status, custom_status }) => custom_status?.text ?? status)

  beforeEach(async () => {
    await world.setText('bob', 'before')
    await world.watch(0, ['bob'])
    world.unsubscribe()
    world.watching.distrust()
  })

  test('[S5, C7] shows no new watcher a user who is hidden by now', async () => {
    await world.choose('bob', { statusVisibility: 'nobody' })
    expect(await watchLate(1)).toEqual(['offline'])
  })

  test('[W1, C7] shows a new watcher what the store knows, until all targets are read again', async () => {
    await world.setText('bob', 'missed')
    expect(await watchLate(1)).toEqual(['missed'])
    await world.done(world.watching.refresh())
    // Pushes keep the target up to date again, as far as this gateway knows.
    await world.setText('bob', 'missed again')
    expect(await watchLate(2)).toEqual(['missed'])
    world.watching.distrust()
    expect(await watchLate(3)).toEqual(['missed again'])
  })

  test('[C7] reads again what was lost while it refreshed', async () => {
    const open = world.closeGate()
    await world.clock.advance(UNKNOWN_MS)
    const refreshed = world.watching.refresh()
    world.watching.distrust()
    open()
    await world.done(refreshed)
    await world.setText('bob', 'missed')
    expect(await watchLate(1)).toEqual(['missed'])
  })

  test('[S5, C7] refuses a new watcher when neither store nor archive answers: the user may be hidden by now', async () => {
    world.faults.isStoreAway = true
    world.faults.isArchiveAway = true
    await expect(watchLate(1)).rejects.toThrow('the archive does not answer')
  })
})

describe('a client that was shown a version which the store has lost', () => {
  const watchKnowing = async (version: number) =>
    (await world.watch(0, ['bob'], { bob: version })).map((state) => state.version)
  const versionOf = async () => (await world.watch(1, ['bob']))[0]!.version

  test('[W9, C7] is told version 0 first, which replaces every version, and then the present state', async () => {
    await world.setText('bob', 'lost my change')
    const version = await versionOf()
    await world.clock.advance(1_000)
    expect(await watchKnowing(version + 2)).toEqual([0, version])
  })

  test('[W9] is told nothing while the store is away, because the archive may be behind', async () => {
    await world.setText('bob', 'here')
    await world.clock.advance(1_000)
    const version = await versionOf()
    world.faults.isStoreAway = true
    expect(await watchKnowing(version + 2)).toEqual([])
  })

  test('[P27, W9] is told what the store has above that version, once it can be read', async () => {
    await world.setText('bob', 'one')
    const version = await versionOf()
    world.watching.unwatch(1, ['bob'])
    await world.clock.advance(1_000)
    world.faults.isStoreAway = true
    expect(await watchKnowing(version + 2)).toEqual([])
    const second = await world.watch(2, ['bob'], { bob: version + 2 })
    expect(second).toEqual([])
    world.faults.isStoreAway = false
    await world.done(world.watching.registerAgain(() => true))
    await world.done(world.watching.refresh())
    for (const viewer of [0, 2])
      expect((await world.hears(viewer)).map((told) => told.version)).toEqual([version + 3])
  })
})

describe('a target whose state is a guess', () => {
  const at = () => world.clock.now()

  test('[D2, C7] is read again when the store has settled, and watchers are told', async () => {
    const row = { userId: 'bob', lastSeenAt: at(), status: 'here', devices: [], version: 5 } as const
    await world.archive.writeLastSeen([{ ...row, shownCustomStatus: null, updatedAt: at() }])
    const settled = at() + 1_000
    world.store.settlesAt = () => settled
    expect((await world.watch(0, ['bob'])).map(({ status }) => status)).toEqual(['online'])
    await world.done(world.watching.readUnsure())
    expect(await world.hears(0)).toEqual([])
    await world.clock.advance(1_000)
    await world.done(world.watching.readUnsure())
    expect((await world.hears(0)).map(({ status }) => status)).toEqual(['offline'])
  })

  test('[R2, C7] or could not be read, is read when the archive answers', async () => {
    const row = { userId: 'bob', lastSeenAt: at(), status: 'offline', devices: [], version: 5 } as const
    await world.archive.writeLastSeen([{ ...row, shownCustomStatus: null, updatedAt: at() }])
    world.faults.isArchiveAway = true
    expect((await world.watch(0, ['bob'])).map(({ last_seen }) => last_seen)).toEqual([null])
    world.faults.isArchiveAway = false
    await world.clock.advance(1_000)
    await world.done(world.watching.readUnsure())
    expect((await world.hears(0)).map(({ version }) => version)).toEqual([5])
  })
})

describe('a refresh', () => {
  test('[W4, C7] tells what was missed, and only that', async () => {
    for (const userId of ['bob', 'carol']) await world.setText(userId, 'one')
    await world.watch(0, ['bob', 'carol', 'unknown'])
    // As when messages are lost.
    world.unsubscribe()
    await world.setText('bob', 'two')
    await world.setText('unknown', 'new')
    expect(await world.hears(0)).toEqual([])
    await world.done(world.watching.refresh())
    const told = await world.hears(0)
    expect(told.map(({ user_id, custom_status }) => `${user_id} ${custom_status?.text}`).sort()).toEqual([
      'bob two',
      'unknown new',
    ])
  })

  test('[W9, C7] does not replace a change that came after it began to read', async () => {
    await world.watch(0, ['bob'])
    await world.clock.advance(UNKNOWN_MS)
    const open = world.closeGate()
    const refreshed = world.watching.refresh()
    await world.clock.advance(0)
    await world.setText('bob', 'newer')
    open()
    await world.done(refreshed)
    expect(texts(await world.hears(0))).toEqual(['newer'])
  })

  test('[D9, C7] leaves what is shown as it is while the store settles, and reads it once after that', async () => {
    await world.setText('bob', 'one')
    await world.watch(0, ['bob'])
    const settled = world.clock.now() + 10_000
    world.store.settlesAt = () => settled
    const { load } = world.store
    let loads = 0
    world.store.load = async (userIds) => {
      loads++
      return world.clock.now() < settled ? userIds.map(() => null) : load(userIds)
    }
    await world.done(world.watching.refresh())
    for (let look = 0; look < 5; look++) await world.done(world.watching.readUnsure())
    expect(loads).toBe(1)
    await world.clock.advance(10_000)
    for (let look = 0; look < 5; look++) await world.done(world.watching.readUnsure())
    expect([loads, await world.hears(0)]).toEqual([2, []])
  })

  test('[P27, C7] shows a state that the store lost and has again above the version that clients know', async () => {
    await world.setText('bob', 'one')
    const [before] = await world.store.load(['bob'])
    await world.setText('bob', 'two')
    const [known] = await world.watch(0, ['bob'])
    const [after] = await world.store.load(['bob'])
    // As an older copy of the store would have it.
    const older = { record: before!.record, expectedRevision: after!.revision }
    await world.store.commit([{ userId: 'bob', ...older, dueAt: null, retainUntil: null }])
    await world.done(world.watching.refresh())
    const told = await world.hears(0)
    expect(texts(told)).toEqual(['one'])
    expect(told[0]!.version).toBeGreaterThan(known!.version)
  })
})
