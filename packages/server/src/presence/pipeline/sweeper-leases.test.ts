// The sweeper and the leases of gateways: one that runs out is the loss of its gateway, unless the store held up all
// renewals, so that they ran out together.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  createGate,
  createPipeline,
  type Gate,
  type Pipeline,
} from '../../../../../testing/worlds/presence-pipeline.ts'
import { connected } from '../../../../../testing/worlds/presence-user.ts'
import { SWEEPER_PREFIX } from '../cluster/shard-owner.ts'
import { type Sweeper, startSweeper } from './sweeper.ts'

const LEASE_MS = 1_500
/** As a gateway renews it. */
const RENEW_MS = 300
const RENEWAL_TAKES_MS = 20
const SETTLED_MS = 10_000

let world: Pipeline
let sweeper: Sweeper
/** Holds every call about leases, as a store that is paused does. */
let gate: Gate
let isGatewayAlive: boolean
/** Called when the sweeper looks for gateways without a lease. */
let pauseAtOrphans: (() => void) | null

beforeEach(async () => {
  ;[gate, isGatewayAlive, pauseAtOrphans] = [createGate(), true, null]
  world = await createPipeline({
    isStoreVolatile: false,
    store: (memory) => ({
      async renewLease(name, until) {
        await gate.pass()
        return memory.renewLease(name, until)
      },
      async liveLeases(now) {
        await gate.pass()
        return memory.liveLeases(now)
      },
      async attachedGateways() {
        pauseAtOrphans?.()
        await gate.pass()
        return memory.attachedGateways()
      },
    }),
  })
  const { store, tracker, dutySweep, clock, logger } = world
  await store.openLease('g1', clock.now() + LEASE_MS)
  // One renewal at a time, as gateways do it.
  let isRenewing = false
  clock.every(RENEW_MS, async () => {
    if (!isGatewayAlive || isRenewing) return
    isRenewing = true
    const until = clock.now() + LEASE_MS
    await gate.pass()
    // It is further away than the sweeper.
    await clock.sleep(RENEWAL_TAKES_MS)
    await store.renewLease('g1', until)
    isRenewing = false
  })
  const cluster = { name: `${SWEEPER_PREFIX}1`, leaseMs: LEASE_MS }
  sweeper = startSweeper({ store, tracker, dutySweep, clock, logger, cluster })
  await world.done(tracker.apply('bob', connected('web#1', clock.now())))
  await clock.advance(SETTLED_MS)
})
afterEach(async () => {
  gate.open()
  await world.done(sweeper.stop())
})

const sessionsOf = async (userId: string) =>
  (await world.stored(userId))!.sessions.map(({ end }) => end.state)

test('[D2, C7] a gateway whose lease runs out is lost', async () => {
  isGatewayAlive = false
  await world.clock.advance(2 * LEASE_MS)
  expect(await sessionsOf('bob')).toEqual(['lost'])
})

test('[C7] no gateway is lost when the store held up all renewals for longer than a lease', async () => {
  gate.close()
  await world.clock.advance(2 * LEASE_MS)
  gate.open()
  await world.clock.advance(3 * LEASE_MS)
  expect(await sessionsOf('bob')).toEqual(['live'])
  isGatewayAlive = false
  await world.clock.advance(4 * LEASE_MS)
  expect(await sessionsOf('bob')).toEqual(['lost'])
})

test('[C7] nor when it held them up for a little less, while the sweeper was about to look for lost gateways', async () => {
  pauseAtOrphans = () => {
    pauseAtOrphans = null
    gate.close()
    world.clock.after(LEASE_MS - RENEWAL_TAKES_MS, gate.open)
  }
  await world.clock.advance(5 * LEASE_MS)
  expect(pauseAtOrphans).toBeNull()
  expect(await sessionsOf('bob')).toEqual(['live'])
})

test('[C7] a gateway whose lease runs out is lost also where a round takes longer than a lease', async () => {
  const slow = 2 * LEASE_MS
  world.store.lookAtShards = () => world.clock.sleep(slow)
  isGatewayAlive = false
  await world.clock.advance(4 * slow)
  expect(await sessionsOf('bob')).not.toContain('live')
})
