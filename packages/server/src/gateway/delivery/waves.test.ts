// Large audiences: how a wave goes round, whom it tells when, and what must not wait for it. By hand on the
// model of testing/worlds/outbox-world.ts, which knows what every connection must have been told.
import { describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { createOutboxWorld } from '../../../../../testing/worlds/outbox-world.ts'
import { NIL } from '../../platform/typed-arrays.ts'
import type { Plans } from './plans.ts'
import type { Pace } from './waves.ts'

const NOW = 1_750_000_000_003
const FLUSH_MS = 50
const DEFAULTS: Plans = { pacedAbove: 5_000, queuedAbove: 10_000, polledAbove: 0, paceMsMax: 10_000 }
/** One watcher every 20 ms, so that a wave can be met anywhere on its way. */
const SLOW: Pace = { pacedPerMs: 0.05, queuedPerMs: 0.05, queuedPerMsMax: 0.1, walkers: 2 }
const TELL_MS = 20
const TICK_MS = 10
const STAR = 0

function audience(options: {
  watchers: number
  /** Targets that all connections watch. */
  stars?: number
  plans?: Plans
  pace?: Pace
  sendCostMs?: number
}) {
  const { watchers, stars = 1, plans = DEFAULTS, sendCostMs = 0, pace } = options
  const clock = createFakeClock(NOW)
  const world = createOutboxWorld({
    clock,
    flushMs: FLUSH_MS,
    connections: watchers + 10,
    targets: stars + 1,
    plans,
    sendCostMs,
    ...(pace === undefined ? {} : { pace }),
  })
  for (let star = 0; star < stars; star++) for (let c = 0; c < watchers; c++) world.watch(c, star)
  const framesEach = () => Array.from({ length: watchers }, (_, c) => world.framesTo(c))
  return { clock, world, framesEach }
}

/** Ten watchers, a wave of its own that tells one every 20 ms; the newest watcher is the first. */
const ten = (plans: Partial<Plans> = {}) =>
  audience({ watchers: 10, plans: { ...DEFAULTS, pacedAbove: 5, ...plans }, pace: SLOW })

describe('the plan', () => {
  test('[W7, G2] up to the limit all watchers are told within a flush, above it one after the other', async () => {
    const few = audience({ watchers: 10, plans: { ...DEFAULTS, pacedAbove: 10 }, pace: SLOW })
    few.world.change(STAR)
    expect(few.world.delivery.waves()).toEqual({ walking: 0, waiting: 0 })
    await few.clock.advance(FLUSH_MS)
    expect(few.world.framesSent()).toBe(10)

    const many = ten()
    many.world.change(STAR)
    expect(many.world.delivery.waves()).toEqual({ walking: 1, waiting: 0 })
    const told: number[] = []
    for (let step = 0; step < 12; step++) {
      await many.clock.advance(TELL_MS)
      told.push(many.world.framesSent())
    }
    // With the flush it may take two steps from being marked to being told.
    for (const [step, count] of told.entries()) expect(count).toBeWithin(step - 3, step + 2)
    await many.clock.advance(FLUSH_MS)
    expect(many.world.framesSent()).toBe(10)
    many.world.expectTruth()
  })

  test('[W7, W8] ten thousand watchers are told within a second, and no turn is a burst', async () => {
    const { clock, world } = audience({ watchers: 10_000 })
    world.change(STAR)
    let before = 0
    for (let elapsedMs = 0; elapsedMs < 900; elapsedMs += 5) {
      await clock.advance(5)
      expect(world.framesSent() - before).toBeLessThan(400)
      before = world.framesSent()
    }
    expect(world.framesSent()).toBe(10_000)
    world.expectTruth()
  })

  test('[W7] a change of a target with a large audience looks at no edge at once', () => {
    const { world } = audience({ watchers: 60_000 })
    const { edges } = world.delivery
    let looks = 0
    const { nextWatcher } = edges
    edges.nextWatcher = (edge) => {
      looks++
      return nextWatcher(edge)
    }
    world.change(STAR)
    expect(looks).toBe(0)
  })
})

describe('a change during a wave', () => {
  test('[W7, G2] reaches watchers ahead of the wave first, then those behind it, and none twice', async () => {
    const { clock, world, framesEach } = ten()
    world.change(STAR)
    await clock.advance(5 * TELL_MS + FLUSH_MS)
    const reached = framesEach().filter((frames) => frames > 0).length
    expect(reached).toBeWithin(4, 9)
    world.change(STAR)
    expect(world.delivery.waves()).toEqual({ walking: 1, waiting: 0 })
    await world.calmDown()
    expect(framesEach().sort()).toEqual([...Array(10 - reached).fill(1), ...Array(reached).fill(2)])
    world.expectTruth()
  })

  test('[W7, G2] in the second round reaches watchers too that this round would not have come to', async () => {
    const { clock, world } = ten()
    world.change(STAR)
    await clock.advance(5 * TELL_MS)
    world.change(STAR)
    // The rest of the first round, and the beginning of the second, which is for the first five.
    await clock.advance(7 * TELL_MS)
    world.change(STAR)
    await world.calmDown()
    world.expectTruth()
  })

  for (const plan of ['a wave of its own', 'the queue'] as const) {
    test(`[W7, G1] reaches every watcher, also one that left and came back since, by ${plan}`, async () => {
      const queuedAbove = plan === 'the queue' ? 5 : 10_000
      for (let c = 0; c < 10; c++) {
        for (const laterMs of [0, 7 * TELL_MS]) {
          const plans = { ...DEFAULTS, pacedAbove: 5, queuedAbove }
          const { clock, world } = audience({ watchers: 10, stars: 2, plans, pace: { ...SLOW, walkers: 1 } })
          world.change(STAR)
          await clock.advance(5 * TELL_MS)
          world.change(STAR)
          // Another target's wave, for which the second round has to wait in the queue.
          world.change(1)
          await clock.advance(laterMs)
          // The new edge has the number of the old one, at the other end of the list.
          world.unwatch(c, STAR)
          world.watch(c, STAR)
          await world.calmDown()
          await clock.advance(plans.paceMsMax)
          world.expectTruth()
        }
      }
    })
  }

  test('[W7, G2] before any watcher was reached it is the same wave', async () => {
    const { clock, world, framesEach } = ten()
    for (let change = 0; change < 10; change++) world.change(STAR)
    await clock.advance(10 * TELL_MS + TICK_MS)
    expect(world.delivery.waves().walking).toBe(0)
    await clock.advance(FLUSH_MS)
    expect(framesEach()).toEqual(Array(10).fill(1))
  })

  test('[W7, G2] when the audience has become small all watchers are told at once', async () => {
    const { clock, world, framesEach } = ten()
    world.change(STAR)
    await clock.advance(TELL_MS)
    for (let c = 9; c >= 5; c--) world.unwatch(c, STAR)
    world.change(STAR)
    expect(world.delivery.waves().walking).toBe(0)
    await clock.advance(2 * FLUSH_MS)
    expect(framesEach().slice(0, 5)).toEqual(Array(5).fill(1))
    world.expectTruth()
  })

  test('[W7, W8] 15,000 watchers, ten changes in two seconds: two frames each at most, all within the time', async () => {
    const { clock, world, framesEach } = audience({ watchers: 15_000 })
    for (let change = 0; change < 10; change++) {
      world.change(STAR)
      await clock.advance(200)
    }
    await clock.advance(3_000)
    expect(Math.max(...framesEach())).toBe(2)
    world.expectTruth()
  })

  test('[W7, W8] one a second without end: no watcher waits for longer than one round', async () => {
    const { clock, world } = audience({ watchers: 50_000 })
    world.change(STAR)
    await clock.advance(10_000)
    world.expectTruth()
    for (let second = 0; second < 12; second++) {
      world.change(STAR)
      await clock.advance(1_000)
    }
    const oldest = Math.min(...Array.from({ length: 50_000 }, (_, c) => world.told(c, STAR)!))
    // Version 2 came before the last twelve; the watcher that was told the least knows the third of these.
    expect(oldest).toBeGreaterThanOrEqual(2 + 2)
  })
})

describe('coming and going during a wave', () => {
  test('[W7, G1] a new watcher has the present state and is told only what is newer', async () => {
    const { clock, world } = ten()
    world.change(STAR)
    await clock.advance(3 * TELL_MS)
    world.watch(12, STAR)
    await world.calmDown()
    expect(world.framesTo(12)).toBe(0)
    world.change(STAR)
    await clock.advance(3 * TELL_MS)
    world.watch(13, STAR)
    world.change(STAR)
    // It has the newest, though the wave has yet to go round once more.
    world.watch(14, STAR)
    await world.calmDown()
    expect(world.framesTo(12)).toBeWithin(1, 3)
    expect([13, 14].map(world.framesTo)).toEqual([1, 0])
    world.expectTruth()
  })

  test('[W7, G1] the watcher that the wave would come to next may leave, and its edge go to another one', async () => {
    const { clock, world, framesEach } = ten()
    world.change(STAR)
    await clock.advance(3 * TELL_MS + FLUSH_MS)
    const { edges } = world.delivery
    // Watchers not reached yet are at the end of the list. Three of them leave, and others take their edges.
    const unreached = framesEach().flatMap((frames, c) => (frames === 0 ? [c] : []))
    const going = unreached.slice(-3)
    const freed = going.map((c) => edges.find(c, STAR))
    for (const c of going) world.unwatch(c, STAR)
    world.watch(11, 1)
    world.watch(12, 1)
    world.watch(13, STAR)
    expect([11, 12].map((c) => edges.find(c, 1)).concat(edges.find(13, STAR))).toEqual(freed.reverse())
    await world.calmDown()
    for (const c of unreached.slice(0, -3)) expect(world.framesTo(c)).toBe(1)
    expect([11, 12, 13].map(world.framesTo)).toEqual([0, 0, 0])
    world.expectTruth()
  })

  test('[W7] when the last watcher has left the wave is over, and the next wave of the target starts afresh', async () => {
    const { clock, world } = ten()
    world.change(STAR)
    await clock.advance(TELL_MS)
    for (let c = 0; c < 10; c++) world.unwatch(c, STAR)
    expect(world.delivery.waves()).toEqual({ walking: 0, waiting: 0 })
    for (let c = 0; c < 10; c++) world.watch(c, STAR)
    await clock.advance(1_000)
    expect(clock.timerCount()).toBe(0)
    world.change(STAR)
    await world.calmDown()
    world.expectTruth()
  })

  test('[W6, W7] a blocked connection gets the newest when it is unblocked, whatever waves went by', async () => {
    const { clock, world } = ten()
    world.become(4, 'blocked')
    for (let change = 0; change < 5; change++) {
      world.change(STAR)
      await clock.advance(400)
    }
    expect(world.framesTo(4)).toBe(1)
    world.become(4, 'sent')
    await clock.advance(FLUSH_MS)
    expect(world.framesTo(4)).toBe(2)
    await world.calmDown()
    world.expectTruth()
  })
})

describe('what does not wait', () => {
  test('[W7, G3] an own view goes out with the next flush', async () => {
    const { clock, world } = ten()
    world.change(STAR)
    world.changeOwn(0)
    await clock.advance(FLUSH_MS)
    expect(world.framesSent() - world.framesTo(9) - world.framesTo(8) - world.framesTo(7)).toBe(1)
    await world.calmDown()
    world.expectTruth()
  })

  test('[W7, G3] what a wave owes is told at once when the level is decided again, and the wave passes by', async () => {
    const { clock, world } = ten()
    const last = world.delivery.edges.find(0, STAR)
    world.change(STAR)
    world.delivery.reveal(last, 'everything')
    await clock.advance(FLUSH_MS)
    expect(world.framesTo(0)).toBe(1)
    await world.calmDown()
    expect(world.framesTo(0)).toBe(1)
    // Nothing is owed now.
    world.delivery.reveal(last, 'everything')
    await clock.advance(FLUSH_MS)
    expect(world.framesTo(0)).toBe(1)
    world.expectTruth()
  })

  test('[W7, W9] a connection that the wave has not reached is not caught up', async () => {
    const { clock, world } = ten()
    expect(world.delivery.isCaughtUp(0)).toBe(true)
    world.change(STAR)
    for (let c = 0; c < 10; c++) expect(world.delivery.isCaughtUp(c)).toBe(false)
    await clock.advance(4 * TELL_MS + FLUSH_MS)
    expect([9, 0].map(world.delivery.isCaughtUp)).toEqual([true, false])
    await world.calmDown()
    for (let c = 0; c < 10; c++) expect(world.delivery.isCaughtUp(c)).toBe(true)
  })
})

describe('the queue', () => {
  const queued: Plans = { ...DEFAULTS, pacedAbove: 2, queuedAbove: 5, paceMsMax: 2_000 }

  test('[W7, G4] a fixed number of waves walk at a time, and one waits for each target', async () => {
    const { clock, world } = audience({ watchers: 10, stars: 6, plans: queued, pace: SLOW })
    for (let round = 0; round < 3; round++) for (let star = 0; star < 6; star++) world.change(star)
    expect(world.delivery.waves()).toEqual({ walking: 2, waiting: 4 })
    let mostWalking = 0
    for (let step = 0; step < 400; step++) {
      await clock.advance(10)
      mostWalking = Math.max(mostWalking, world.delivery.waves().walking)
    }
    expect(mostWalking).toBe(2)
    world.expectTruth()
    // The newest won while the waves waited.
    for (let c = 0; c < 10; c++) for (let star = 0; star < 6; star++) expect(world.told(c, star)).toBe(4)
  })

  test('[W7, W8] twenty targets with 15,000 watchers at once: all within the time', async () => {
    const { clock, world } = audience({ watchers: 15_000, stars: 20 })
    for (let star = 0; star < 20; star++) world.change(star)
    await clock.advance(DEFAULTS.paceMsMax)
    world.expectTruth()
  })

  test('[W7, G4] past its limit the queue takes longer, and never more than its share', async () => {
    const { clock, world } = audience({ watchers: 20, stars: 30, plans: queued, pace: SLOW })
    for (let star = 0; star < 30; star++) world.change(star)
    await clock.advance(queued.paceMsMax)
    const told = () => {
      let count = 0
      for (let c = 0; c < 20; c++) for (let star = 0; star < 30; star++) if (world.told(c, star)! > 1) count++
      return count
    }
    expect(told()).toBeWithin(180, 202)
    await clock.advance(5 * queued.paceMsMax)
    world.expectTruth()
  })

  test('[D9] after a stop no wave walks on', async () => {
    const { clock, world } = ten()
    world.change(STAR)
    world.delivery.stop()
    await clock.advance(1_000)
    expect(world.framesSent()).toBe(0)
    expect(clock.timerCount()).toBe(0)
    expect(world.delivery.edges.firstWatcher(STAR)).not.toBe(NIL)
  })
})
