// Which process holds the sessions of a foreign gateway, on a real store and bus of one process with a fake clock: every
// process hands its batches to the same holder, and to another one when that holder is silent.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock, untilDone } from '../../../../testing/worlds/fake-clock.ts'
import { createMemoryBus } from '../bus/memory.ts'
import type { Bus } from '../bus/port.ts'
import { createLogger } from '../platform/logger.ts'
import { createTally, type Tally } from '../platform/measuring/tally.ts'
import { createMemoryStore } from '../store/memory.ts'
import type { PresenceStore } from '../store/port.ts'
import { decodeBatch, encodeBatch, type ForeignBatch, type Rejection } from './batch.ts'
import { type ForeignRouting, startForeignRouting } from './routing.ts'

const LEASE_MS = 10_000
/** A process that stops waits no longer for what it has to answer. */
const STOP_MS_MAX = 3_000
const GATEWAYS = Array.from({ length: 40 }, (_, n) => `chat-${n}`)

let clock: FakeClock
let store: PresenceStore
let bus: Bus
let isStoreAway: boolean
let routings: ForeignRouting[]

beforeEach(() => {
  clock = createFakeClock(1_000_000)
  const memory = createMemoryStore()
  isStoreAway = false
  store = {
    ...memory,
    liveLeases: (now) => (isStoreAway ? Promise.reject(new Error('away')) : memory.liveLeases(now)),
  }
  bus = createMemoryBus()
  routings = []
})
afterEach(async () => {
  const stopped = Promise.all(routings.map((routing) => routing.stop()))
  await clock.advance(STOP_MS_MAX)
  await stopped
})

const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)

const batchOf = (gatewayId: string): ForeignBatch => ({
  gatewayId,
  sessions: [{ userId: 'ada', deviceId: 'd1', platform: 'web', activity: 'active', at: 5 }],
  disconnected: [{ userId: 'bob', deviceId: 'd"2' }],
})

interface Process extends ForeignRouting {
  tally: Tally
  /** The gateways of the batches it recorded, in order. */
  recorded: string[]
  /** The gateways whose sessions it gave up. */
  released: string[]
  /** How many batches it recorded at the same time. */
  mostAtOnce(): number
  /** How long it takes to record a batch. */
  recordMs: number
  /** It hears nothing any more, as if it had died. */
  die(): void
}

async function start(name: string, { holds = true, refuses = [] as Rejection[] } = {}): Promise<Process> {
  const logger = createLogger({ level: 'silent' })
  const tally = createTally()
  let isDead = false
  const line: Bus = {
    ...bus,
    subscribe: (channel, receive, ...rest) =>
      bus.subscribe(channel, (messages) => void (isDead || receive(messages)), ...rest),
  }
  const cluster = { name, leaseMs: LEASE_MS }
  const routing = await startForeignRouting({ store, bus: line, clock, logger, tally, cluster })
  routings.push(routing)
  const [recorded, released]: [string[], string[]] = [[], []]
  let [now, most] = [0, 0]
  const process: Process = Object.assign(routing, {
    tally,
    recorded,
    released,
    mostAtOnce: () => most,
    recordMs: 0,
    die() {
      isDead = true
    },
  })
  if (holds)
    await routing.hold({
      async record(batch) {
        most = Math.max(most, ++now)
        if (process.recordMs > 0) await clock.sleep(process.recordMs)
        now--
        recorded.push(batch.gatewayId)
        return refuses
      },
      held: () => recorded.filter((gatewayId) => !released.includes(gatewayId)).map(batchOf),
      release: (gatewayId) => void released.push(gatewayId),
    })
  return process
}

test('[C4] a batch is the same after its way between processes', () => {
  const batch = { ...batchOf('chat-1'), isBrief: true, isHandedOn: true }
  expect(decodeBatch(encodeBatch(batch))).toEqual(batch)
  const none = { gatewayId: 'g', sessions: [], disconnected: [], isBrief: false, isHandedOn: false }
  expect(decodeBatch(encodeBatch(none))).toEqual(none)
})

test('[C4] every process hands the batches of a gateway to the same holder', async () => {
  const refuses = [{ index: 0, code: 'forbidden', message: 'no' } as const]
  const [a, b] = [await start('f-a', { refuses }), await start('f-b', { refuses })]
  const reader = await start('f-c', { holds: false })
  for (const gatewayId of GATEWAYS)
    for (const process of [a, b, reader])
      expect(await done(process.record(batchOf(gatewayId)))).toEqual(refuses)
  for (const gatewayId of GATEWAYS) {
    const counts = [a, b].map(({ recorded }) => recorded.filter((one) => one === gatewayId).length)
    expect(counts.toSorted()).toEqual([0, 3])
  }
  // Both have a share.
  expect(a.recorded.length).toBeGreaterThan(0)
  expect(b.recorded.length).toBeGreaterThan(0)
})

test('[C4] batches that come at the same moment find their holders, also the first ones', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  const reader = await start('f-c', { holds: false })
  await done(Promise.all(GATEWAYS.map((gatewayId) => reader.record(batchOf(gatewayId)))))
  expect([...a.recorded, ...b.recorded].toSorted()).toEqual(GATEWAYS.toSorted())
})

test('[C4, C7] a holder that does not answer is passed over, and the next batches do not wait for it', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  await done(a.record(batchOf('chat-0')))
  const [holder, other] = a.recorded.length > 0 ? [a, b] : [b, a]
  holder.die()
  const recorded = other.record(batchOf('chat-0'))
  await clock.advance(5_000)
  await recorded
  expect(other.recorded).toEqual(['chat-0'])
  expect(other.tally.foreignHoldersPassedOver).toBe(1)
  const before = clock.now()
  await done(other.record(batchOf('chat-0')))
  expect(clock.now()).toBe(before)
  expect(other.recorded).toEqual(['chat-0', 'chat-0'])
})

test('[C4, C7] a slow holder is waited for, because another one would open the same sessions again', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  await done(a.record(batchOf('chat-0')))
  const [holder, other] = a.recorded.length > 0 ? [a, b] : [b, a]
  holder.recordMs = 9_000
  const recorded = other.record(batchOf('chat-0'))
  await clock.advance(9_500)
  expect(await recorded).toEqual([])
  // One that takes too long is not passed over either, and the caller is told to try again.
  holder.recordMs = 60_000
  const late = other.record(batchOf('chat-0'))
  late.catch(() => {})
  await clock.advance(11_000)
  await expect(late).rejects.toThrow('not confirmed')
  expect(other.recorded).toEqual([])
  expect(other.tally.foreignHoldersPassedOver).toBe(0)
})

test('[C4, X2] a process that goes away hands over what it holds, one batch at a time, and is asked no more', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  for (const gatewayId of GATEWAYS) await done(a.record(batchOf(gatewayId)))
  const held = [...a.recorded]
  b.recorded.splice(0)
  b.recordMs = 10
  const handedOver = a.handOver()
  await clock.advance(1_000)
  await handedOver
  b.recordMs = 0
  expect(b.recorded.toSorted()).toEqual(held.toSorted())
  expect(b.mostAtOnce()).toBe(1)
  await done(a.record(batchOf(held[0]!)))
  expect(b.recorded).toHaveLength(held.length + 1)
})

test('[C4, X2] a process that goes away hands on batches of those that have not heard of it yet', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  const reader = await start('f-c', { holds: false })
  for (const gatewayId of GATEWAYS) await done(reader.record(batchOf(gatewayId)))
  const held = [...a.recorded]
  await done(a.handOver())
  a.recorded.splice(0)
  b.recorded.splice(0)
  for (const gatewayId of held) await done(reader.record(batchOf(gatewayId)))
  expect(a.recorded).toEqual([])
  expect(b.recorded).toEqual(held)
})

test('[C4] a process that joined is handed the sessions that it holds from now on, and the former holder gives them up', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  for (const gatewayId of GATEWAYS) await done(a.record(batchOf(gatewayId)))
  const before = [...a.recorded, ...b.recorded]
  const joined = await start('f-c')
  await clock.advance(LEASE_MS)
  expect(joined.recorded.length).toBeGreaterThan(0)
  expect([...a.released, ...b.released].toSorted()).toEqual(joined.recorded.toSorted())
  expect([...a.recorded, ...b.recorded]).toEqual(before)
  // Batches for them go there, too.
  joined.recorded.splice(0)
  for (const gatewayId of a.released) await done(a.record(batchOf(gatewayId)))
  expect(joined.recorded).toEqual(a.released)
})

test('[C4, X2] a holder keeps the sessions that come back to it, because the process that joined leaves again or is silent', async () => {
  const a = await start('f-a')
  for (const gatewayId of GATEWAYS) await done(a.record(batchOf(gatewayId)))
  const leaving = await start('f-b')
  // Just when the other has seen that this one joined.
  await clock.advance(LEASE_MS / 5 - 1)
  leaving.recordMs = 200
  await clock.advance(1)
  const handedOver = leaving.handOver()
  await clock.advance(LEASE_MS)
  await handedOver
  const silent = await start('f-c')
  silent.die()
  await clock.advance(2 * LEASE_MS)
  const heldByA = a.recorded.filter((gatewayId) => !a.released.includes(gatewayId))
  const heldElsewhere = leaving.recorded.filter((gatewayId) => a.released.includes(gatewayId))
  expect(new Set([...heldByA, ...heldElsewhere])).toEqual(new Set(GATEWAYS))
  expect(silent.recorded).toEqual([])
})

test('[C4] a former holder hands on batches of those that have not heard yet of a process that joined', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  const reader = await start('f-r', { holds: false })
  for (const gatewayId of GATEWAYS) await done(a.record(batchOf(gatewayId)))
  // Just before the others look at the leases again, and the next holder comes in between.
  await clock.advance(LEASE_MS / 5 - 500)
  await done(reader.record(batchOf(b.recorded[0]!)))
  const joined = await start('f-c')
  await clock.advance(500)
  const released = [...a.released]
  expect(released.length).toBeGreaterThan(0)
  a.recorded.splice(0)
  joined.recorded.splice(0)
  for (const gatewayId of released) await done(reader.record(batchOf(gatewayId)))
  expect(a.recorded).toEqual([])
  expect(joined.recorded).toEqual(released)
})

test('[C4] batches, entries and refusals are counted where they come in', async () => {
  const refuses = [{ index: 0, code: 'forbidden', message: 'no' } as const]
  const [a, b] = [await start('f-a', { refuses }), await start('f-b', { refuses })]
  for (const gatewayId of GATEWAYS) await done(a.record(batchOf(gatewayId)))
  const { foreignBatches, foreignEntries, foreignRejections } = a.tally
  expect([foreignBatches, foreignEntries]).toEqual([GATEWAYS.length, 2 * GATEWAYS.length])
  expect(Object.fromEntries(foreignRejections.entries())).toMatchObject({ forbidden: GATEWAYS.length })
  expect([b.tally.foreignBatches, b.tally.foreignEntries]).toEqual([0, 0])
})

test('[C4, C7] while the store is away a process holds what it is given', async () => {
  const [a] = [await start('f-a'), await start('f-b')]
  isStoreAway = true
  for (const gatewayId of GATEWAYS) await done(a.record(batchOf(gatewayId)))
  expect(a.recorded).toEqual(GATEWAYS)
})

test('[C4] a process that stops answers the batches that it has accepted', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  const reader = await start('f-c', { holds: false })
  for (const gatewayId of GATEWAYS) await done(reader.record(batchOf(gatewayId)))
  const gatewayId = a.recorded[0]!
  await done(a.handOver())
  b.recordMs = 500
  // The reader has not heard yet that this process leaves.
  const recorded = reader.record(batchOf(gatewayId))
  await clock.advance(1)
  const stopped = a.stop()
  await clock.advance(600)
  expect(await recorded).toEqual([])
  await stopped
})

test('[C4] without a holder the caller is told to try again', async () => {
  const reader = await start('f-c', { holds: false })
  await expect(done(reader.record(batchOf('chat-0')))).rejects.toThrow('no holder')
  const alone = await startForeignRouting({
    store,
    bus,
    clock,
    logger: createLogger({ level: 'silent' }),
    tally: createTally(),
    cluster: null,
  })
  await expect(alone.record(batchOf('chat-0'))).rejects.toThrow('no holder')
})
