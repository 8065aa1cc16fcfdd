// Latest wins: random histories of watching, changing, slow and dead connections compared with a naive model
// (testing/worlds/outbox-world.ts), and single cases by hand.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { createOutboxWorld, type OutboxWorld } from '../../../../../testing/worlds/outbox-world.ts'
import { ALL_AT_ONCE, type Plans } from './plans.ts'
import type { Pace } from './waves.ts'

const NOW = 1_750_000_000_003
const CONNECTIONS = 12
const TARGETS = 6
const CHANGES_PER_FRAME_MAX = 500

function newWorld(options: {
  flushMs?: number
  connections?: number
  targets?: number
  sendCostMs?: number
  plans?: Plans
}) {
  const clock = createFakeClock(NOW)
  const { flushMs = 50, connections = CONNECTIONS, targets = TARGETS, sendCostMs = 0 } = options
  const { plans = ALL_AT_ONCE } = options
  const world = createOutboxWorld({ clock, flushMs, connections, targets, sendCostMs, plans, pace: SLOW })
  return { clock, world }
}

/** So slow that histories meet waves on their way; with EARLY_WAVES even a few watchers make a wave. */
const SLOW: Pace = { pacedPerMs: 0.05, queuedPerMs: 0.03, queuedPerMsMax: 0.3, walkers: 1 }
const EARLY_WAVES: Plans = { pacedAbove: 1, queuedAbove: 2, polledAbove: 0, paceMsMax: 2_000 }

const connection = fc.nat(CONNECTIONS - 1)
const target = fc.nat(TARGETS - 1)
type Step = (world: OutboxWorld, advance: (ms: number) => Promise<void>) => unknown

/** A step that prints as what it does, so that a counterexample can be read. */
function named(text: string, run: Step): { run: Step; toString(): string } {
  return { run, toString: () => text }
}

const steps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(connection, target).map(([c, t]) => named(`watch ${c} ${t}`, (w) => w.watch(c, t))),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(connection, target)
        .map(([c, t]) => named(`unwatch ${c} ${t}`, (w) => w.unwatch(c, t))),
    },
    { weight: 8, arbitrary: target.map((t) => named(`change ${t}`, (w) => w.change(t))) },
    { weight: 2, arbitrary: connection.map((c) => named(`own ${c}`, (w) => w.changeOwn(c))) },
    { weight: 2, arbitrary: connection.map((c) => named(`replace ${c}`, (w) => w.replace(c))) },
    { weight: 2, arbitrary: connection.map((c) => named(`block ${c}`, (w) => w.become(c, 'blocked'))) },
    { weight: 2, arbitrary: connection.map((c) => named(`unblock ${c}`, (w) => w.become(c, 'sent'))) },
    { weight: 1, arbitrary: connection.map((c) => named(`kill ${c}`, (w) => w.become(c, 'gone'))) },
    { weight: 4, arbitrary: fc.nat(120).map((ms) => named(`wait ${ms}`, (_, advance) => advance(ms))) },
  ),
  { minLength: 20, maxLength: 150 },
)

describe('the outbox', () => {
  test('[W5, W6, W7, G1] after any history every connection was told the newest of what it watches, and nothing else', async () => {
    let frames = 0
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.constantFrom(1, 7, 33, 50, 1000),
        fc.constantFrom(0, 10),
        fc.constantFrom(ALL_AT_ONCE, EARLY_WAVES),
        async (history, flushMs, sendCostMs, plans) => {
          const { clock, world } = newWorld({ flushMs, sendCostMs, plans })
          for (const { run } of history) await run(world, clock.advance)
          await world.calmDown()
          world.expectTruth()
          frames += world.framesSent()
        },
      ),
      { numRuns: 600 },
    )
    // Histories without frames would prove nothing.
    expect(frames).toBeGreaterThan(1_000)
  })

  test('[W5] many changes of many targets within a flush are one frame with the newest of each', async () => {
    const { clock, world } = newWorld({})
    for (let t = 0; t < TARGETS; t++) world.watch(0, t)
    for (let round = 0; round < 30; round++) for (let t = 0; t < TARGETS; t++) world.change(t)
    await clock.advance(50)
    expect(world.framesSent()).toBe(1)
    world.expectTruth()
  })

  test('[W5] changes that do not fit one frame come with the next flushes', async () => {
    const targets = CHANGES_PER_FRAME_MAX * 2 + 1
    const { clock, world } = newWorld({ targets })
    for (let t = 0; t < targets; t++) world.watch(3, t)
    for (let t = 0; t < targets; t++) world.change(t)
    const framesAfter: number[] = []
    for (let flush = 0; flush < 4; flush++) {
      await clock.advance(50)
      framesAfter.push(world.framesSent())
    }
    expect(framesAfter).toEqual([1, 2, 3, 3])
    world.expectTruth()
  })

  test('[W5] a change reaches every watcher within one flush interval, spread over it', async () => {
    const { clock, world } = newWorld({ connections: 640 })
    for (let c = 0; c < 640; c++) world.watch(c, 0)
    world.change(0)
    const sentBy: number[] = []
    for (let elapsedMs = 0; elapsedMs < 50; elapsedMs += 5) {
      await clock.advance(5)
      sentBy.push(world.framesSent())
    }
    // Neighbouring connections share a turn, a tenth of all in each.
    expect(sentBy).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((turns) => turns * 64))
    world.expectTruth()
  })

  test('[W5] the first change after a quiet time is spread over the interval too', async () => {
    const { clock, world } = newWorld({ connections: 640 })
    for (let c = 0; c < 640; c++) world.watch(c, 0)
    await clock.advance(10_000)
    world.change(0)
    await clock.advance(5)
    expect(world.framesSent()).toBe(64)
    await clock.advance(45)
    expect(world.framesSent()).toBe(640)
    world.expectTruth()
  })

  test('[C7] a clock that is set back or forward delays no flush', async () => {
    const clock = createFakeClock(NOW)
    let skewMs = 0
    const world = createOutboxWorld({ clock, flushMs: 50, connections: 4, targets: 2, skewMs: () => skewMs })
    for (let c = 0; c < 4; c++) world.watch(c, 0)
    for (const nextSkewMs of [-3_600_000, 3_600_000, -7, 0]) {
      world.change(0)
      skewMs = nextSkewMs
      const before = world.framesSent()
      // The interval that was under way may be cut short or begin again.
      await clock.advance(100)
      expect(world.framesSent() - before).toBe(4)
    }
    world.expectTruth()
  })

  test('[W6] a turn that takes too long goes on in the next one, and no connection is left out', async () => {
    const { clock, world } = newWorld({ connections: 1_000, flushMs: 1, sendCostMs: 1 })
    for (let c = 0; c < 1_000; c++) world.watch(c, 0)
    world.change(0)
    await clock.advance(1)
    expect(world.framesSent()).toBe(1_000)
    await world.calmDown()
    world.expectTruth()
  })

  test('[W6] a blocked connection is sent nothing until it is unblocked, and then only the newest', async () => {
    const { clock, world } = newWorld({})
    world.watch(0, 0)
    world.watch(1, 0)
    world.become(0, 'blocked')
    for (let round = 0; round < 20; round++) {
      world.change(0)
      await clock.advance(50)
    }
    // The first frame filled the buffer of the blocked one; the other was sent one each time.
    expect(world.framesSent()).toBe(1 + 20)
    expect(world.delivery.blocked()).toBe(1)
    world.become(0, 'sent')
    await clock.advance(50)
    expect(world.framesSent()).toBe(1 + 20 + 1)
    world.expectTruth()
  })

  test('[W6] what changed while a connection was blocked is no propagation, and what changes later is', async () => {
    const { clock, world } = newWorld({})
    const waits: number[] = []
    world.tally.propagation.observe = (waitedMs) => void waits.push(waitedMs)
    world.watch(0, 0)
    world.watch(0, 1)
    world.become(0, 'blocked')
    world.change(0)
    await clock.advance(50)
    expect(waits).toHaveLength(1)
    world.change(0)
    world.change(1)
    await clock.advance(600_000)
    world.become(0, 'sent')
    await clock.advance(50)
    expect(waits).toHaveLength(1)
    expect(world.tally.deliveries).toBe(3)
    world.change(0)
    await clock.advance(50)
    expect(waits).toHaveLength(2)
    world.expectTruth()
  })

  test('[W6] a blocked connection that ends is not counted any more, and its number starts afresh', async () => {
    const { clock, world } = newWorld({})
    world.watch(0, 0)
    world.become(0, 'blocked')
    world.change(0)
    await clock.advance(50)
    world.change(0)
    world.replace(0)
    expect(world.delivery.blocked()).toBe(0)
    await clock.advance(100)
    expect(world.framesSent()).toBe(1)
    world.watch(0, 1)
    world.change(1)
    world.change(0)
    await clock.advance(50)
    expect(world.framesSent()).toBe(2)
    world.expectTruth()
  })

  test('[W5] the own view and the changes of targets go out in the same flush', async () => {
    const { clock, world } = newWorld({})
    world.watch(0, 0)
    for (let round = 0; round < 5; round++) {
      world.change(0)
      world.changeOwn(0)
    }
    await clock.advance(50)
    expect(world.framesSent()).toBe(2)
    world.expectTruth()
  })

  test('[D9] with nothing to send no timer is set, and a stopped outbox sets none', async () => {
    const { clock, world } = newWorld({})
    world.change(0)
    expect(clock.timerCount()).toBe(0)
    world.watch(0, 0)
    world.delivery.stop()
    world.change(0)
    await clock.advance(200)
    expect(world.framesSent()).toBe(0)
    expect(clock.timerCount()).toBe(0)
  })
})
