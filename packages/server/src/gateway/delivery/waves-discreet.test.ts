// Watchers who are not to be noticed: whoever else watches hears the same at the same instants whether they are
// there or not. Random histories run twice, once with somebody who hides and once with somebody who goes
// instead; all others must have heard the same. And by hand where the hidden are a crowd.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFakeClock } from '../../../../../testing/fake-clock.ts'
import { createOutboxWorld } from '../../../../../testing/outbox-world.ts'
import type { Outbox } from './outbox.ts'
import type { Plans } from './plans.ts'
import { NIL } from './watch-index.ts'
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

/** For everybody but the one who hides, whether the crowd they are in is full. */
function fullFor({ index, isFull }: Outbox): boolean[] {
  const edges = Array.from({ length: CONNECTIONS * TARGETS }, (_, pair) =>
    index.find(pair % CONNECTIONS, Math.floor(pair / CONNECTIONS)),
  )
  return edges.map((edge) => edge !== NIL && index.connectionOf(edge) !== HIDING && isFull(edge))
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
    full.push(fullFor(world.outbox))
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
  test('[W7, S6, G6] take as much time of a wave when they show themselves as those who only come', async () => {
    const heard: unknown[] = []
    for (const isThere of [true, false]) {
      const { world } = createWorld(CONNECTIONS, { ...CROWDED, queuedAbove: 10 })
      world.setDiscreet(HIDING, true)
      if (isThere) world.watch(HIDING, 0)
      // What they hear while they hide.
      world.change(0)
      world.watch(OTHERS, 0)
      world.setDiscreet(HIDING, false)
      if (!isThere) world.watch(HIDING, 0)
      world.change(0)
      await world.calmDown()
      world.expectTruth()
      heard.push(world.heard(OTHERS))
    }
    expect(heard[1]).toEqual(heard[0])
  })

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

  test('[W7, G6] have a wave of their own where they are a thousand, and nobody else feels it', async () => {
    const { clock, world } = createWorld(CROWD + 2, CROWDED, { ...SLOW, queuedPerMsMax: 1 })
    for (let c = 1; c <= CROWD; c++) {
      world.setDiscreet(c, true)
      world.watch(c, 0)
    }
    world.watch(0, 0)
    world.change(0)
    expect(world.outbox.waves()).toEqual({ walking: 0, waiting: 0 })
    await clock.advance(FLUSH_MS)
    expect(world.framesSent()).toBe(CROWD + 1)

    world.setDiscreet(CROWD + 1, true)
    world.watch(CROWD + 1, 0)
    world.change(0)
    expect(world.outbox.waves()).toEqual({ walking: 1, waiting: 0 })
    await clock.advance(FLUSH_MS)
    expect(world.framesTo(0)).toBe(2)
    expect(world.framesSent()).toBeLessThan(CROWD + 100)
    await world.calmDown()
    world.expectTruth()
  })

  for (const how of ['go', 'show themselves'] as const) {
    test(`[W7, G1, G6] are all told though so many ${how} during their wave that they are few again`, async () => {
      const { clock, world } = createWorld(CROWD + 4, CROWDED)
      for (let c = 3; c < CROWD + 4; c++) world.setDiscreet(c, true)
      for (let c = 0; c < CROWD + 4; c++) world.watch(c, 0)
      world.change(0)
      await clock.advance(FLUSH_MS)
      for (const c of [CROWD, CROWD + 1]) {
        if (how === 'go') world.replace(c)
        else world.setDiscreet(c, false)
      }
      world.change(0)
      await world.calmDown()
      world.expectTruth()
    })
  }
})
