// Which process holds the sessions of a foreign gateway, on a real store and bus of one process with a fake clock: every
// process hands its batches to the same holder, and to another one when that holder is silent.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock, untilDone } from '../../../../testing/worlds/fake-clock.ts'
import { createMemoryBus } from '../bus/memory.ts'
import type { Bus } from '../bus/port.ts'
import { createLogger } from '../platform/logger.ts'
import { createMemoryStore } from '../store/memory.ts'
import type { PresenceStore } from '../store/port.ts'
import { decodeBatch, encodeBatch, type ForeignBatch, type Rejection } from './batch.ts'
import { type ForeignRouting, startForeignRouting } from './routing.ts'

const LEASE_MS = 10_000
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
  for (const routing of routings) await routing.stop()
})

const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)

const batchOf = (gatewayId: string): ForeignBatch => ({
  gatewayId,
  sessions: [{ userId: 'ada', deviceId: 'd1', platform: 'web', activity: 'active', at: 5 }],
  disconnected: [{ userId: 'bob', deviceId: 'd"2' }],
})

interface Process extends ForeignRouting {
  /** The gateways of the batches it recorded, in order. */
  recorded: string[]
  /** It does not answer any more, as if it had died. */
  die(): void
}

async function start(name: string, { holds = true, refuses = [] as Rejection[] } = {}): Promise<Process> {
  const logger = createLogger({ level: 'silent' })
  const routing = await startForeignRouting({
    store,
    bus,
    clock,
    logger,
    cluster: { name, leaseMs: LEASE_MS },
  })
  routings.push(routing)
  const recorded: string[] = []
  let isDead = false
  if (holds)
    await routing.hold({
      async record(batch) {
        if (isDead) return new Promise(() => {})
        recorded.push(batch.gatewayId)
        return refuses
      },
      held: () => recorded.map(batchOf),
    })
  return Object.assign(routing, {
    recorded,
    die() {
      isDead = true
    },
  })
}

test('[C4] a batch is the same after its way between processes', () => {
  const batch = { ...batchOf('chat-1'), isBrief: true }
  expect(decodeBatch(encodeBatch(batch))).toEqual(batch)
  const none = { gatewayId: 'g', sessions: [], disconnected: [], isBrief: false }
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
  const before = clock.now()
  await done(other.record(batchOf('chat-0')))
  expect(clock.now()).toBe(before)
  expect(other.recorded).toEqual(['chat-0', 'chat-0'])
})

test('[C4, X2] a process that goes away hands over what it holds, and is asked no more', async () => {
  const [a, b] = [await start('f-a'), await start('f-b')]
  for (const gatewayId of GATEWAYS) await done(a.record(batchOf(gatewayId)))
  const held = [...a.recorded]
  b.recorded.splice(0)
  await done(a.handOver())
  expect(b.recorded.toSorted()).toEqual(held.toSorted())
  await done(a.record(batchOf(held[0]!)))
  expect(b.recorded).toHaveLength(held.length + 1)
})

test('[C4, C7] while the store is away a process holds what it is given', async () => {
  const [a] = [await start('f-a'), await start('f-b')]
  isStoreAway = true
  for (const gatewayId of GATEWAYS) await done(a.record(batchOf(gatewayId)))
  expect(a.recorded).toEqual(GATEWAYS)
})

test('[C4] without a holder the caller is told to try again', async () => {
  const reader = await start('f-c', { holds: false })
  await expect(done(reader.record(batchOf('chat-0')))).rejects.toThrow('no holder')
  const alone = await startForeignRouting({
    store,
    bus,
    clock,
    logger: createLogger({ level: 'silent' }),
    cluster: null,
  })
  await expect(alone.record(batchOf('chat-0'))).rejects.toThrow('no holder')
})
