// Large audiences: how a wave goes round, whom it tells when, and what must not wait for it. On the
// outbox by hand, with its model of what everybody must have been told, and by a fake clock.
import { describe, expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/fake-clock.ts'
import { createOutboxWorld } from '../../../../../testing/outbox-world.ts'
import type { Plans } from './plans.ts'
import { NIL, openCrowd } from './watch-index.ts'
import type { Pace } from './waves.ts'

const NOW = 1_750_000_000_003
const FLUSH_MS = 50
const DEFAULTS: Plans = { pacedAbove: 5_000, queuedAbove: 10_000, polledAbove: 0, paceMsMax: 10_000 }
/** One watcher every 20 ms, so that a wave can be met anywhere on its way. */
const SLOW: Pace = { pacedPerMs: 0.05, queuedPerMs: 0.05, queuedPerMsMax: 0.1, walkers: 2 }
const TELL_MS = 20
const TICK_MS = 10
const STAR = 0

function crowd(options: {
  watchers: number
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
  crowd({ watchers: 10, plans: { ...DEFAULTS, pacedAbove: 5, ...plans }, pace: SLOW })

describe('the plan', () => {
  test('[W7, G2] up to the limit everybody is told within a flush, above it one after the other', async () => {
    const few = crowd({ watchers: 10, plans: { ...DEFAULTS, pacedAbove: 10 }, pace: SLOW })
    few.world.change(STAR)
    expect(few.world.outbox.waves()).toEqual({ walking: 0, waiting: 0 })
    await few.clock.advance(FLUSH_MS)
    expect(few.world.framesSent()).toBe(10)

    const many = ten()
    many.world.change(STAR)
    expect(many.world.outbox.waves()).toEqual({ walking: 1, waiting: 0 })
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

  test('[W7, W8] ten thousand hear within a second, and no turn is a burst', async () => {
    const { clock, world } = crowd({ watchers: 10_000 })
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

  test('[W7] marking takes no longer for more watchers', () => {
    const { world } = crowd({ watchers: 60_000 })
    const { index } = world.outbox
    let looks = 0
    const nextWatcher = index.nextWatcher
    index.nextWatcher = (edge) => {
      looks++
      return nextWatcher(edge)
    }
    world.change(STAR)
    expect(looks).toBe(0)
  })
})

describe('a change during a wave', () => {
  test('[W7, G2] goes to those ahead with the wave, and then to those behind it, and to nobody twice', async () => {
    const { clock, world, framesEach } = ten()
    world.change(STAR)
    await clock.advance(5 * TELL_MS + FLUSH_MS)
    const reached = framesEach().filter((frames) => frames > 0).length
    expect(reached).toBeWithin(4, 9)
    world.change(STAR)
    expect(world.outbox.waves()).toEqual({ walking: 1, waiting: 0 })
    await world.calmDown()
    expect(framesEach().sort()).toEqual([...Array(10 - reached).fill(1), ...Array(reached).fill(2)])
    world.expectTruth()
  })

  test('[W7, G2] in the second round goes to those as well whom that round would not have come to', async () => {
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
    test(`[W7, G1] reaches everybody, whoever went and came back since, by ${plan}`, async () => {
      const queuedAbove = plan === 'the queue' ? 5 : 10_000
      for (let c = 0; c < 10; c++) {
        for (const laterMs of [0, 7 * TELL_MS]) {
          const plans = { ...DEFAULTS, pacedAbove: 5, queuedAbove }
          const { clock, world } = crowd({ watchers: 10, stars: 2, plans, pace: { ...SLOW, walkers: 1 } })
          world.change(STAR)
          await clock.advance(5 * TELL_MS)
          world.change(STAR)
          // Somebody else's, for which the second round has to wait in the queue.
          world.change(1)
          await clock.advance(laterMs)
          // Their edge gets the number it had, at the other end of the list.
          world.unwatch(c, STAR)
          world.watch(c, STAR)
          await world.calmDown()
          await clock.advance(plans.paceMsMax)
          world.expectTruth()
        }
      }
    })
  }

  test('[W7, G2] before anybody was reached it is the same wave', async () => {
    const { clock, world, framesEach } = ten()
    for (let change = 0; change < 10; change++) world.change(STAR)
    await clock.advance(10 * TELL_MS + TICK_MS)
    expect(world.outbox.waves().walking).toBe(0)
    await clock.advance(FLUSH_MS)
    expect(framesEach()).toEqual(Array(10).fill(1))
  })

  test('[W7, G2] when the audience has become small everybody is told at once', async () => {
    const { clock, world, framesEach } = ten()
    world.change(STAR)
    await clock.advance(TELL_MS)
    for (let c = 9; c >= 5; c--) world.unwatch(c, STAR)
    world.change(STAR)
    expect(world.outbox.waves().walking).toBe(0)
    await clock.advance(2 * FLUSH_MS)
    expect(framesEach().slice(0, 5)).toEqual(Array(5).fill(1))
    world.expectTruth()
  })

  test('[W7, W8] 15,000 watchers, ten changes in two seconds: two frames each at most, all within the time', async () => {
    const { clock, world, framesEach } = crowd({ watchers: 15_000 })
    for (let change = 0; change < 10; change++) {
      world.change(STAR)
      await clock.advance(200)
    }
    await clock.advance(3_000)
    expect(Math.max(...framesEach())).toBe(2)
    world.expectTruth()
  })

  test('[W7, W8] without end: nobody waits for longer than one round', async () => {
    const { clock, world } = crowd({ watchers: 50_000 })
    world.change(STAR)
    await clock.advance(10_000)
    world.expectTruth()
    for (let second = 0; second < 12; second++) {
      world.change(STAR)
      await clock.advance(1_000)
    }
    const oldest = Math.min(...Array.from({ length: 50_000 }, (_, c) => world.told(c, STAR)!))
    // Two before the last twelve; whoever is told the least knows the third of those.
    expect(oldest).toBeGreaterThanOrEqual(2 + 2)
  }, 20_000)
})

test('[W7, S6] when a wave has its turn does not depend on whether others have one', async () => {
  const plans = { ...DEFAULTS, pacedAbove: 5 }
  const framesAt: number[][] = []
  for (const others of [0, 1]) {
    const { clock, world } = crowd({ watchers: 10, stars: 2, plans, pace: { ...SLOW, pacedPerMs: 100 } })
    // Shortly before a flush, for which a tick in between would be just in time.
    await clock.advance(FLUSH_MS - (clock.now() % FLUSH_MS) - 13)
    if (others > 0) world.change(1)
    await clock.advance(8)
    world.change(STAR)
    const counts: number[] = []
    for (let ms = 0; ms < 3 * FLUSH_MS; ms++) {
      await clock.advance(1)
      counts.push(Array.from({ length: 10 }, (_, c) => world.told(c, STAR)! - 1).reduce((a, b) => a + b))
    }
    framesAt.push(counts)
  }
  expect(framesAt[1]).toEqual(framesAt[0]!)
})

test('[W7, S6] a wave that moves in the moment of a flush is for the next one, whoever else has a turn', async () => {
  const heard: unknown[] = []
  for (const others of [0, 1]) {
    const { clock, world } = crowd({ watchers: 1, plans: { ...DEFAULTS, pacedAbove: 0 } })
    await clock.advance(FLUSH_MS - (clock.now() % FLUSH_MS) - 8)
    // Somebody else, because of whom the timer of the flush is set before that of the wave.
    if (others > 0) world.changeOwn(1)
    await clock.advance(3)
    world.change(STAR)
    world.changeOwn(0)
    await clock.advance(3 * FLUSH_MS)
    world.expectTruth()
    heard.push(world.heard(0))
  }
  expect(heard[1]).toEqual(heard[0])
})

describe('coming and going during a wave', () => {
  test('[W7, G1] whoever comes has the present state and is told only what is newer', async () => {
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
    // Whoever comes now has it, though the wave has yet to go round for those behind it.
    world.watch(14, STAR)
    await world.calmDown()
    expect(world.framesTo(12)).toBeWithin(1, 3)
    expect([13, 14].map(world.framesTo)).toEqual([1, 0])
    world.expectTruth()
  })

  test('[W7, G1] whoever the wave would have come to next may go, and their edge belong to somebody else', async () => {
    const { clock, world, framesEach } = ten()
    world.change(STAR)
    await clock.advance(3 * TELL_MS + FLUSH_MS)
    const { index } = world.outbox
    // Those not reached yet are at the end of the list. Two of them go, and others take their edges.
    const unreached = framesEach().flatMap((frames, c) => (frames === 0 ? [c] : []))
    const going = unreached.slice(-3)
    const freed = going.map((c) => index.find(c, STAR))
    for (const c of going) world.unwatch(c, STAR)
    world.watch(11, 1)
    world.watch(12, 1)
    world.watch(13, STAR)
    expect([11, 12].map((c) => index.find(c, 1)).concat(index.find(13, STAR))).toEqual(freed.reverse())
    await world.calmDown()
    for (const c of unreached.slice(0, -3)) expect(world.framesTo(c)).toBe(1)
    expect([11, 12, 13].map(world.framesTo)).toEqual([0, 0, 0])
    world.expectTruth()
  })

  test('[W7] when everybody has gone the wave is over, and the next of that number starts afresh', async () => {
    const { clock, world } = ten()
    world.change(STAR)
    await clock.advance(TELL_MS)
    for (let c = 0; c < 10; c++) world.unwatch(c, STAR)
    expect(world.outbox.waves()).toEqual({ walking: 0, waiting: 0 })
    for (let c = 0; c < 10; c++) world.watch(c, STAR)
    await clock.advance(1_000)
    expect(clock.timerCount()).toBe(0)
    world.change(STAR)
    await world.calmDown()
    world.expectTruth()
  })

  test('[W6, W7] a slow reader has its newest when it reads again, whatever waves went by', async () => {
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

  test('[W7, G3] what is owed is told at once when sight changes, and the wave passes by', async () => {
    const { clock, world } = ten()
    const last = world.outbox.index.find(0, STAR)
    world.change(STAR)
    world.outbox.settleDebt(last)
    await clock.advance(FLUSH_MS)
    expect(world.framesTo(0)).toBe(1)
    await world.calmDown()
    expect(world.framesTo(0)).toBe(1)
    // Nothing is owed now.
    world.outbox.settleDebt(last)
    await clock.advance(FLUSH_MS)
    expect(world.framesTo(0)).toBe(1)
    world.expectTruth()
  })

  test('[W7, W9] whoever the wave has not reached has not been told everything', async () => {
    const { clock, world } = ten()
    expect(world.outbox.isCaughtUp(0)).toBe(true)
    world.change(STAR)
    for (let c = 0; c < 10; c++) expect(world.outbox.isCaughtUp(c)).toBe(false)
    await clock.advance(4 * TELL_MS + FLUSH_MS)
    expect([9, 0].map(world.outbox.isCaughtUp)).toEqual([true, false])
    await world.calmDown()
    for (let c = 0; c < 10; c++) expect(world.outbox.isCaughtUp(c)).toBe(true)
  })
})

describe('the queue', () => {
  const queued: Plans = { ...DEFAULTS, pacedAbove: 2, queuedAbove: 5, paceMsMax: 2_000 }

  test('[W7, G4] so many waves walk at a time, each in turn, and one waits for each person', async () => {
    const { clock, world } = crowd({ watchers: 10, stars: 6, plans: queued, pace: SLOW })
    for (let round = 0; round < 3; round++) for (let star = 0; star < 6; star++) world.change(star)
    expect(world.outbox.waves()).toEqual({ walking: 2, waiting: 4 })
    let mostWalking = 0
    for (let step = 0; step < 400; step++) {
      await clock.advance(10)
      mostWalking = Math.max(mostWalking, world.outbox.waves().walking)
    }
    expect(mostWalking).toBe(2)
    world.expectTruth()
    // The newest won while they waited.
    for (let c = 0; c < 10; c++) for (let star = 0; star < 6; star++) expect(world.told(c, star)).toBe(4)
  })

  test('[W7, W8] twenty people with 15,000 watchers at once: all within the time', async () => {
    const { clock, world } = crowd({ watchers: 15_000, stars: 20 })
    for (let star = 0; star < 20; star++) world.change(star)
    await clock.advance(DEFAULTS.paceMsMax)
    world.expectTruth()
  }, 30_000)

  test('[W7, G4] beyond what it can do the queue takes longer, never more than its share', async () => {
    const { clock, world } = crowd({ watchers: 20, stars: 30, plans: queued, pace: SLOW })
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

  test('[D9] a stopped outbox walks no further', async () => {
    const { clock, world } = ten()
    world.change(STAR)
    world.outbox.stop()
    await clock.advance(1_000)
    expect(world.framesSent()).toBe(0)
    expect(clock.timerCount()).toBe(0)
    expect(world.outbox.index.firstWatcher(openCrowd(STAR))).not.toBe(NIL)
  })
})
