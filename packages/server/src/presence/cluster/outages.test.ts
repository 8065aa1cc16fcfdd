// Shards that lose their memory around an outage of the log settle after it, and others are not touched by it.
import { beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { createOutages, type Outages } from './outages.ts'

const SETTLE_MS = 10_000
const STARTS_AT = 1_000_000

let clock: FakeClock
let outages: Outages

beforeEach(() => {
  clock = createFakeClock(STARTS_AT)
  outages = createOutages(clock, SETTLE_MS)
})

/** Until when a shard settles that the store takes to be settled at this instant. */
const settlesAt = (at: number) =>
  outages.settling({ ...createMemoryStore(), settlesAt: () => at }).settlesAt(0)

test('[C7] a shard that lost its memory during an outage does not settle before its end', async () => {
  outages.begin()
  await clock.advance(1_000)
  const lostAt = clock.now()
  await clock.advance(60_000)
  expect(settlesAt(lostAt + SETTLE_MS)).toBeGreaterThan(clock.now())
  outages.end()
  const endedAt = clock.now()
  await clock.advance(SETTLE_MS / 2)
  expect(settlesAt(lostAt + SETTLE_MS)).toBe(endedAt + SETTLE_MS)
})

test('[C7] a shard that was settling when the outage began settles after it', async () => {
  const lostAt = clock.now()
  await clock.advance(1_000)
  outages.begin()
  await clock.advance(60_000)
  outages.end()
  expect(settlesAt(lostAt + SETTLE_MS)).toBe(clock.now() + SETTLE_MS)
})

test('[C7] outages that follow each other soon are one', async () => {
  const lostAt = clock.now()
  for (let round = 0; round < 5; round++) {
    await clock.advance(SETTLE_MS / 2)
    outages.notice()
  }
  expect(settlesAt(lostAt + SETTLE_MS)).toBe(clock.now() + SETTLE_MS)
})

test('[C7] a shard that had settled before, or never lost anything, stays so', async () => {
  const lostAt = clock.now()
  await clock.advance(2 * SETTLE_MS)
  outages.begin()
  await clock.advance(60_000)
  expect([settlesAt(lostAt + SETTLE_MS), settlesAt(0)]).toEqual([lostAt + SETTLE_MS, 0])
})

test('[C7] a shard that loses its memory long after an outage settles as if there had been none', async () => {
  outages.notice()
  await clock.advance(60_000)
  expect(settlesAt(clock.now() + SETTLE_MS)).toBe(clock.now() + SETTLE_MS)
})
