// The users that a gateway keeps up to date: a target is known, and the store holds the gateway's interest in
// it, from the first reference to the last.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createGatewayWorld, type GatewayWorld } from '../../../../../testing/worlds/gateway-world.ts'
import { aCommit } from '../../../../../testing/worlds/records.ts'
import { createWatchedTargets, type WatchedTargets } from './watched-targets.ts'

let world: GatewayWorld
let watched: WatchedTargets
beforeEach(async () => {
  world = await createGatewayWorld()
  watched = createWatchedTargets(world)
})
afterEach(() => world.close())

/** The gateways that the store would tell of a change of this user. */
async function interestIn(userId: string): Promise<readonly string[]> {
  const [stored] = await world.store.load([userId])
  const [result] = await world.store.commit([aCommit(userId, { expectedRevision: stored?.revision ?? 0 })])
  return result?.outcome === 'committed' ? result.interested : []
}

describe('a watched target', () => {
  test('[W3, W4] is forgotten with its last reference, and so is the interest in it', async () => {
    const bob = watched.retain('bob')
    await watched.registerInterest(['bob'])
    expect(watched.retain('bob')).toBe(bob)
    watched.retainAgain(bob)
    world.delivery.learn(bob, 1, '{}', world.clock.now())
    for (const isRetained of [true, true, false]) {
      watched.release(bob)
      expect(watched.isRetained(bob)).toBe(isRetained)
      expect(world.delivery.targets.isKnown(bob)).toBe(isRetained)
      expect(await interestIn('bob')).toEqual(isRetained ? [world.identity.id()] : [])
    }
    expect([watched.count(), world.interner.size()]).toEqual([0, 0])
  })

  test('[W3] shares its number with nothing of the user that had it before', () => {
    const bob = watched.retain('bob')
    watched.release(bob)
    expect(watched.retain('carol')).toBe(bob)
    expect([watched.isRetained(bob), watched.count()]).toEqual([true, 1])
    expect([...watched.slices()]).toEqual([['carol']])
  })
})

describe('interest', () => {
  test('[C7] is registered again under the new name, for retained users only, in slices', async () => {
    const userIds = Array.from({ length: 1_200 }, (_, n) => `user-${n}`)
    const targets = userIds.map(watched.retain)
    watched.release(targets[7]!)
    expect([...watched.slices()].map(({ length }) => length)).toEqual([500, 500, 199])
    world.identity.rename('g-next', world.clock.now())
    await watched.registerAgain(() => true)
    expect([await interestIn('user-0'), await interestIn('user-7')]).toEqual([['g-next'], []])
  })

  test('[C7] that cannot be registered or removed is reported as a doubt', async () => {
    const doubts: string[] = []
    world.doubts.listen((why) => doubts.push(why))
    world.faults.isStoreAway = true
    const bob = watched.retain('bob')
    await watched.registerInterest(['bob'])
    expect(doubts).toHaveLength(1)
    watched.release(bob)
    await world.clock.advance(0)
    expect(doubts).toHaveLength(2)
    // Healing calls this, and has to know that it failed.
    watched.retain('bob')
    await expect(watched.registerAgain(() => true)).rejects.toThrow('the store is gone')
  })
})
