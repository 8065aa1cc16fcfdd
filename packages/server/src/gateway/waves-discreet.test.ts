// Watchers who are not to be noticed: whoever else watches hears the same at the same instants whether they are
// there or not. Random histories run twice, once with somebody who hides and once with somebody who goes
// instead; all others must have heard the same. And by hand where the hidden are a crowd.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { createOutboxWorld } from '../../../../testing/outbox-world.ts'
import { audienceOf, type Plans } from './plans.ts'
import type { Pace } from './waves.ts'

const NOW = 1_750_000_000_003
const FLUSH_MS = 50
/** The first hides now and then, the second always does, the others never. */
const [HIDING, DISCREET, OTHERS] = [0, 1, 5]
const CONNECTIONS = OTHERS + 2
const TARGETS = 4
/** One watcher every 20 ms, so that every watcher can be felt; people with two watchers wait in a queue. */
const SLOW: Pace = { pacedPerMs: 0.05, queuedPerMs: 0.03, queuedPerMsMax: 0.1, walkers: 1 }
const CROWDED: Plans = { pacedAbove: 1, queuedAbove: 2, polledAbove: 2, paceMsMax: 2_000 }
const CROWD = 1_000

type Step =
  | { does: 'watch' | 'unwatch'; connection: number; target: number }
  | { does: 'change'; target: number }
  | { does: 'leave'; connection: number }
  | { does: 'hide' | 'show' }
  | { does: 'wait'; ms: number }

const connection = fc.nat(CONNECTIONS - 1)
const target = fc.nat(TARGETS - 1)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ does: fc.constant('watch' as const), connection, target }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('unwatch' as const), connection, target }) },
    { weight: 8, arbitrary: fc.record({ does: fc.constant('change' as const), target }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('leave' as const), connection }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constantFrom('hide' as const, 'show' as const) }) },
    { weight: 8, arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.nat(60) }) },
  ),
  { minLength: 20, maxLength: 120 },
)

function createWorld(connections: number, plans: Plans, pace = SLOW) {
  const clock = createFakeClock(NOW)
  const options = { clock, flushMs: FLUSH_MS, connections, targets: TARGETS, plans, pace }
  return { clock, world: createOutboxWorld(options) }
}

/** What everybody but the one who hides heard, and whether audiences were full; `isThere` while they hide? */
async function tell(history: readonly Step[], isThere: boolean): Promise<unknown> {
  const { clock, world } = createWorld(CONNECTIONS, CROWDED)
  const full: boolean[][] = []
  const heard: unknown[] = []
  /** Whom they watch while they hide, in the world in which they went. */
  let imagined: Set<number> | null = null
  let isHidden = false
  world.setDiscreet(DISCREET, true)

  function hide(): void {
    isHidden = true
    if (isThere) world.setDiscreet(HIDING, true)
    else {
      imagined = new Set(world.watched(HIDING))
      world.replace(HIDING)
    }
  }

  function show(): void {
    isHidden = false
    if (isThere) world.setDiscreet(HIDING, false)
    for (const to of imagined ?? []) world.watch(HIDING, to)
    imagined = null
  }

  function watch(does: 'watch' | 'unwatch', from: number, to: number): void {
    if (from !== HIDING || imagined === null) world[does](from, to)
    else if (does === 'watch') imagined.add(to)
    else imagined.delete(to)
  }

  function leave(from: number): void {
    if (from === HIDING && isHidden) return
    if (from !== HIDING) heard.push(world.heard(from))
    world.replace(from)
    if (from === DISCREET) world.setDiscreet(DISCREET, true)
  }

  for (const step of history) {
    if (step.does === 'wait') await clock.advance(step.ms)
    else if (step.does === 'change') world.change(step.target)
    else if (step.does === 'leave') leave(step.connection)
    else if (step.does === 'hide' && !isHidden) hide()
    else if (step.does === 'show' && isHidden) show()
    else if (step.does === 'watch' || step.does === 'unwatch') watch(step.does, step.connection, step.target)
    full.push(Array.from({ length: TARGETS }, (_, to) => world.outbox.isFull(to)))
  }
  await world.calmDown()
  world.expectTruth()
  for (let from = DISCREET; from < CONNECTIONS; from++) heard.push(world.heard(from))
  return { full, heard }
}

test('[W7, S6, G6] nobody hears anything sooner or later because of somebody who is not to be noticed', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      expect(await tell(history, true)).toEqual(await tell(history, false))
    }),
    { numRuns: 400 },
  )
})

describe('those who are not to be noticed', () => {
  test('[W7, G6] are told at once, and the wave passes by', async () => {
    const { clock, world } = createWorld(10, { ...CROWDED, pacedAbove: 5 })
    for (const c of [0, 1]) world.setDiscreet(c, true)
    for (let c = 0; c < 10; c++) world.watch(c, 0)
    world.change(0)
    await clock.advance(FLUSH_MS)
    expect([world.framesTo(0), world.framesTo(1)]).toEqual([1, 1])
    expect(world.framesSent()).toBeLessThan(6)
    await world.calmDown()
    world.expectTruth()
    expect(world.framesSent()).toBe(10)
  })

  test('[W7, G6] count where they are a thousand, and wait like everybody else', async () => {
    const { clock, world } = createWorld(CROWD + 1, CROWDED, { ...SLOW, queuedPerMsMax: 1 })
    for (let c = 1; c < CROWD; c++) {
      world.setDiscreet(c, true)
      world.watch(c, 0)
    }
    world.watch(0, 0)
    expect(audienceOf(world.outbox.index, 0)).toBe(1)
    world.change(0)
    expect(world.outbox.waves()).toEqual({ walking: 0, waiting: 0 })
    await clock.advance(FLUSH_MS)
    expect(world.framesSent()).toBe(CROWD)

    world.setDiscreet(CROWD, true)
    world.watch(CROWD, 0)
    expect(audienceOf(world.outbox.index, 0)).toBe(CROWD + 1)
    world.change(0)
    expect(world.outbox.waves()).toEqual({ walking: 1, waiting: 0 })
    await clock.advance(FLUSH_MS)
    expect(world.framesSent()).toBeLessThan(CROWD + 100)
    await world.calmDown()
    world.expectTruth()
  })

  for (const how of ['go', 'show themselves'] as const) {
    test(`[W7, G1, G6] are told what a wave owes them when so many ${how} that they are few again`, async () => {
      const { clock, world } = createWorld(CROWD + 3, CROWDED)
      for (let c = 3; c < CROWD + 3; c++) world.setDiscreet(c, true)
      for (let c = 0; c < CROWD + 3; c++) world.watch(c, 0)
      world.change(0)
      await clock.advance(FLUSH_MS)
      if (how === 'go') world.replace(CROWD)
      else world.setDiscreet(CROWD, false)
      await world.calmDown()
      world.expectTruth()
    })
  }
})
