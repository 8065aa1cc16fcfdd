// A gateway among others: it keeps its lease, and after anything may have been lost it starts again under a
// new name, announces its sessions and its interest, gives up the former name and reads its targets again.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  createGatewayWorld,
  FLUSH_MS,
  type GatewayWorld,
  STREAM_TIMERS,
} from '../../../../testing/worlds/gateway-world.ts'
import { texts } from '../../../../testing/worlds/watching-world.ts'
import { lookAtGatewayLeases } from '../presence/cluster/gateway-leases.ts'
import { type Membership, type MembershipParts, startMembership } from './membership.ts'

const ALICE = 0
const LEASE_MS = 10_000
/** The longest until a lost lease is noticed and all is announced again. */
const ANNOUNCED_MS = 1_000 + 2 * 250
/** After that, the longest until the former name is given up. */
const FINISHED_MS = 5_000

let world: GatewayWorld
let membership: Membership
beforeEach(async () => {
  world = await createGatewayWorld({ viewers: ['alice'] })
  world.unsubscribe()
})
afterEach(async () => {
  await membership.stop()
  await world.close()
})

async function start(parts: Partial<MembershipParts> = {}): Promise<void> {
  membership = await startMembership({ ...world, leaseMs: LEASE_MS, ...parts })
}

const name = () => world.identity.id()
const leases = () => world.store.liveLeases(world.clock.now())

/** Where the sessions of a user are live, by the store. */
async function gatewaysOf(userId: string): Promise<string[]> {
  const [stored] = await world.store.load([userId])
  return stored!.record.sessions.flatMap(({ end, gatewayId }) => (end.state === 'live' ? [gatewayId] : []))
}

/** Messages that are published by this are lost. */
async function losingMessages(work: () => Promise<unknown>): Promise<void> {
  const { publish } = world.bus
  world.bus.publish = async () => true
  await work()
  world.bus.publish = publish
}

describe('a gateway that is well', () => {
  test('[C7] keeps its lease and its name', async () => {
    await start()
    const first = name()
    await world.clock.advance(10 * LEASE_MS)
    expect([name(), await leases(), membership.isHealthy()]).toEqual([first, [first], true])
  })

  test('[D9] gives up its lease when it stops, and sets no timer after that', async () => {
    await start()
    await membership.stop()
    world.doubts.report('too late')
    await world.clock.advance(LEASE_MS)
    expect(await leases()).toEqual([])
    expect(await world.store.lostGateways(world.clock.now())).toMatchObject([{ gatewayId: name() }])
    expect(world.clock.timerCount()).toBe(STREAM_TIMERS)
  })
})

describe('a gateway whose lease is lost', () => {
  test('[C7, P26] announces its sessions and its interest under a new name', async () => {
    await start()
    const formerName = name()
    const carol = await world.connect('carol')
    await world.watch(ALICE, ['bob'])
    // Takes the interest as well, as an emptied store does.
    await world.store.dropGateway(formerName)
    await world.clock.advance(ANNOUNCED_MS)
    expect([name() === formerName, membership.isHealthy()]).toEqual([false, true])
    expect(await leases()).toEqual([name()])
    expect(await gatewaysOf('carol')).toEqual([name()])
    expect(carol.closedWith).toEqual([])
    await world.setText('bob', 'by the new name')
    expect(texts(await world.hears(ALICE))).toEqual(['by the new name'])
    const json = JSON.stringify({ version: Number.MAX_SAFE_INTEGER })
    const change = { kind: 'change', userId: 'bob', version: Number.MAX_SAFE_INTEGER, json } as const
    world.bus.publish(formerName, [{ ...change, at: world.clock.now(), inputs: null }])
    expect(await world.hears(ALICE)).toEqual([])
  })

  test('[C7, P25] declares what is left under the former name lost, and drops that name', async () => {
    await start()
    const formerName = name()
    const at = world.clock.now()
    const session = { sessionId: 's', deviceId: 'd', platform: 'web', gatewayId: formerName } as const
    const facts = { ...session, connectedAt: at, lastActiveAt: at }
    // A session that the table does not know any more.
    await world.done(world.tracker.apply('ghost', { type: 'connected', activity: 'active', at, ...facts }))
    await world.store.dropGateway(formerName)
    await world.clock.advance(ANNOUNCED_MS)
    expect(world.identity.formerIds()).toEqual([formerName])
    expect(await gatewaysOf('ghost')).toEqual([formerName])
    await world.clock.advance(FINISHED_MS)
    expect(world.identity.formerIds()).toEqual([])
    expect(await gatewaysOf('ghost')).toEqual([])
  })

  test('[C7, P25] keeps every name of its sessions alive while it cannot announce them', async () => {
    await start()
    const formerName = name()
    await world.connect('carol')
    // A part of the store is away for several leases; the part with the leases answers.
    const { addInterest } = world.store
    world.store.addInterest = async () => Promise.reject(new Error('away'))
    await world.watch(ALICE, ['bob'])
    world.doubts.report('a part of the store is away')
    await world.clock.advance(5 * LEASE_MS)
    expect(membership.isHealthy()).toBe(false)
    expect(await world.store.lostGateways(world.clock.now())).toEqual([])
    expect(await gatewaysOf('carol')).toEqual([formerName])
    world.store.addInterest = addInterest
    await world.clock.advance(5 * LEASE_MS)
    expect([membership.isHealthy(), await gatewaysOf('carol')]).toEqual([true, [name()]])
  })

  test('[C7] ends a session under every name that the record may know it by', async () => {
    await start()
    const { row } = await world.connect('carol')
    // Renamed, but not announced yet.
    world.identity.rename('g-next', world.clock.now())
    world.sockets.leave(row)
    await world.done(world.tracker.flush())
    expect(await gatewaysOf('carol')).toEqual([])
  })
})

describe('where shards of the store lost their memory', () => {
  const eventAtOf = async (userId: string) =>
    (await world.store.load([userId]))[0]!.record.sessions[0]!.eventAt

  test('[C7, P26] their users are announced again, under the same name', async () => {
    await start({ store: { ...world.store, shardOf: (userId) => (userId === 'carol' ? 1 : 0) } })
    const formerName = name()
    for (const userId of ['carol', 'dave']) await world.connect(userId)
    await world.clock.advance(100)
    const [carol, dave] = [await eventAtOf('carol'), await eventAtOf('dave')]
    world.doubts.report('shards lost their memory', [1])
    await world.clock.advance(100)
    expect(await eventAtOf('carol')).toBeGreaterThan(carol)
    expect([await eventAtOf('dave'), name(), membership.isHealthy()]).toEqual([dave, formerName, true])
  })

  test('[C7, W4] their watchers are told what they missed', async () => {
    await start()
    await world.watch(ALICE, ['bob'])
    await losingMessages(() => world.setText('bob', 'missed'))
    world.doubts.report('shards lost their memory', [0])
    await world.clock.advance(FINISHED_MS)
    expect(texts(await world.hears(ALICE))).toEqual(['missed'])
  })

  test('[C7] while it heals, they are announced again after it', async () => {
    const { addInterest } = world.store
    let isLost = false
    const forgetful: typeof addInterest = async (gatewayId, userIds) => {
      await addInterest(gatewayId, userIds)
      if (isLost) return
      isLost = true
      await world.store.removeInterest(gatewayId, userIds)
      world.doubts.report('shards lost their memory', [0])
    }
    await world.watch(ALICE, ['bob'])
    await start({ watching: { ...world.watching, registerAgain: () => forgetful(name(), ['bob']) } })
    world.doubts.report('messages may have been missed')
    await world.clock.advance(FINISHED_MS)
    await world.setText('bob', 'told')
    expect(texts(await world.hears(ALICE))).toEqual(['told'])
  })

  test('[C7] looks at the shards with every renewal', async () => {
    let looks = 0
    const lookAtShards = async () => void looks++
    await start({ store: { ...world.store, lookAtShards } })
    await world.clock.advance(LEASE_MS)
    expect(looks).toBe(LEASE_MS / 1_000)
  })
})

describe('after messages may have been missed', () => {
  test('[C7, W4] watchers are told what they missed', async () => {
    await start()
    await world.watch(ALICE, ['bob'])
    await losingMessages(() => world.setText('bob', 'missed'))
    world.doubts.report('messages may have been missed')
    await world.clock.advance(ANNOUNCED_MS)
    expect(await world.hears(ALICE)).toEqual([])
    await world.clock.advance(FINISHED_MS)
    expect(texts(await world.hears(ALICE))).toEqual(['missed'])
  })

  test('[C7] sessions get the own view that they missed, though revisions begin again', async () => {
    await start()
    const carol = await world.connect('carol')
    // By a store that was emptied since.
    world.table.columns.ownRevision[carol.row] = 1_000_000
    await losingMessages(() => world.setText('carol', 'missed'))
    world.doubts.report('messages may have been missed')
    await world.clock.advance(ANNOUNCED_MS + FINISHED_MS + FLUSH_MS)
    const own = carol.frames.flatMap((frame) => (frame.type === 'self' ? [frame.presence] : []))
    expect(texts(own)).toEqual(['missed'])
  })
})

describe('healing', () => {
  test('[C7] waits for the store, and is retried until it answers', async () => {
    await start()
    const formerName = name()
    await world.connect('carol')
    world.faults.isStoreAway = true
    await world.clock.advance(3 * LEASE_MS)
    expect([name(), membership.isHealthy()]).toEqual([formerName, false])
    world.faults.isStoreAway = false
    await world.clock.advance(LEASE_MS)
    expect([name() === formerName, membership.isHealthy()]).toEqual([false, true])
    expect(await gatewaysOf('carol')).toEqual([name()])
  })

  test('[C7] begins again when there is new trouble meanwhile, and gives up every former name', async () => {
    const names: string[] = []
    await start({
      sessions: {
        async announceAgain(isMeant) {
          names.push(name())
          if (names.length === 1) world.doubts.report('trouble during healing')
          await world.sessions.announceAgain(isMeant)
        },
      },
    })
    const first = name()
    await world.connect('carol')
    world.doubts.report('trouble')
    await world.clock.advance(2 * ANNOUNCED_MS)
    expect(names).toEqual([expect.any(String), name()])
    expect(world.identity.formerIds()).toEqual([first, names[0]!])
    expect(await gatewaysOf('carol')).toEqual([name()])
    await world.clock.advance(FINISHED_MS)
    expect([world.identity.formerIds(), await leases()]).toEqual([[], [name()]])
  })

  test('[C7] keeps the new lease and the former one while it takes longer than one', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    await start({ sessions: { announceAgain: () => promise } })
    const formerName = name()
    world.doubts.report('trouble')
    await world.clock.advance(3 * LEASE_MS)
    expect([(await leases()).sort(), membership.isHealthy()]).toEqual([[name(), formerName].sort(), false])
    // By that others see that it heals.
    const lookAtLeases = () => lookAtGatewayLeases(world.store, world.clock.now(), LEASE_MS)
    expect(await lookAtLeases()).toEqual({ held: 2, fresh: 0 })
    resolve()
    await world.clock.advance(0)
    expect(membership.isHealthy()).toBe(true)
    await world.clock.advance(ANNOUNCED_MS + FINISHED_MS)
    expect(await lookAtLeases()).toEqual({ held: 1, fresh: 1 })
  })
})
