// While a gateway announces itself again, shards that lost their memory do not settle.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import type { Timer } from '../../platform/clock.ts'
import { createMemoryStore } from '../../store/memory.ts'
import type { PresenceStore } from '../../store/port.ts'
import { HEALING_SHARE } from './gateway-leases.ts'
import { startHealingWatch } from './healing-watch.ts'
import { createOutages } from './outages.ts'

const SETTLE_MS = 13_000
const LEASE_MS = 10_000
const STARTS_AT = 1_000_000

let clock: FakeClock
let store: PresenceStore
let watch: Timer
let leaseLooks: number

beforeEach(() => {
  clock = createFakeClock(STARTS_AT)
  const memory = createMemoryStore()
  const outages = createOutages(clock, SETTLE_MS)
  leaseLooks = 0
  store = outages.settling({
    ...memory,
    settlesAt: () => STARTS_AT + SETTLE_MS,
    liveLeases(now) {
      leaseLooks++
      return memory.liveLeases(now)
    },
  })
  watch = startHealingWatch({ store, outages, leaseMs: LEASE_MS, clock })
})
afterEach(() => watch.stop())

/** Renews a lease for a part of its time every second. */
function keep(name: string, share: () => number): Timer {
  void store.openLease(name, clock.now() + LEASE_MS * share())
  return clock.every(1_000, () => void store.renewLease(name, clock.now() + LEASE_MS * share()))
}

const isSettling = () => clock.now() < store.settlesAt(0)

test('[C7] a shard settles when the last gateway has announced itself, and the time for late ones has passed', async () => {
  let isHealing = true
  keep('g-well', () => 1)
  keep('g-healing', () => (isHealing ? HEALING_SHARE : 1))
  await clock.advance(5 * SETTLE_MS)
  expect(isSettling()).toBe(true)
  isHealing = false
  await clock.advance(SETTLE_MS - 1_000)
  expect(isSettling()).toBe(true)
  await clock.advance(3_000)
  expect(isSettling()).toBe(false)
})

test('[C7] a shard settles in its own time while no gateway heals, also beside a sweeper whose lease is short', async () => {
  keep('g-well', () => 1)
  keep('p-sweeper', () => 0.5)
  await clock.advance(SETTLE_MS)
  expect(isSettling()).toBe(false)
})

test('[C7] a gateway that never heals does not keep shards from settling for ever', async () => {
  keep('g-healing', () => HEALING_SHARE)
  await clock.advance(620_000)
  expect(isSettling()).toBe(false)
})

test('[D9] looks at no leases while nothing settles', async () => {
  keep('g-healing', () => HEALING_SHARE)
  await clock.advance(620_000)
  const before = leaseLooks
  await clock.advance(60_000)
  expect(leaseLooks).toBe(before)
})
