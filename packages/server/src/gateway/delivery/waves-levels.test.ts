// Large audiences of people who hide and show themselves: whatever the plan, everybody ends with the
// same, and nobody is told by a wave what they may not see by then. With the real watches, sights,
// tracker and archive; the same history is played with a wave for everybody and with none.
import { expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import fc from 'fast-check'
import { createGatewayWorld, FLUSH_MS } from '../../../../../testing/gateway-world.ts'
import type { Privacy } from '../../presence/core/privacy.ts'
import { NAMED } from './edge-flags.ts'
import { ALL_AT_ONCE, type Plans } from './plans.ts'
import type { Pace } from './waves.ts'

const VIEWERS = 10
const PACED: Plans = { pacedAbove: 2, queuedAbove: 6, polledAbove: 0, paceMsMax: 1_000 }
const FULL: Plans = { pacedAbove: 2, queuedAbove: 6, polledAbove: 4, paceMsMax: 1_000 }
/** One viewer every 20 ms, so that much can happen before the last. */
const SLOW: Pace = { pacedPerMs: 0.05, queuedPerMs: 0.05, queuedPerMsMax: 0.2, walkers: 1 }
const names = Array.from({ length: VIEWERS }, (_, n) => `viewer-${n}`)

type Stage = Awaited<ReturnType<typeof createStage>>

async function createStage(plans: Plans) {
  const known = names.map((): Presence | null => null)
  const framesTo = names.map(() => 0)
  let isHidden = false

  function learn(viewer: number, presence: Presence): void {
    const before = known[viewer]
    if (presence.version !== 0) {
      expect(presence.version).toBeGreaterThanOrEqual(before?.version ?? 0)
      if (isHidden) throw new Error(`${names[viewer]} was told of somebody hidden from everybody`)
    }
    known[viewer] = presence
  }
  const world = await createGatewayWorld({
    plans,
    pace: SLOW,
    viewers: names,
    hear(viewer, frame) {
      framesTo[viewer]!++
      for (const presence of JSON.parse(frame).changes) learn(viewer, presence)
    },
  })
  const { watches } = world
  const isWatching = (viewer: number) => watches.degree(viewer) > 0
  const star = () => world.interner.find('star')
  let saidCount = 0

  return {
    ...world,
    known,
    framesTo,
    async watch(viewer: number): Promise<Presence[]> {
      if (isWatching(viewer)) return []
      known[viewer] = null
      const options = { known: {}, why: NAMED, isOpen: () => true } as const
      const states = (await world.done(watches.watch(viewer, ['star'], options)))!
      const presences = states.map((json): Presence => JSON.parse(json))
      for (const presence of presences) learn(viewer, presence)
      return presences
    },
    unwatch(viewer: number): void {
      watches.unwatch(viewer, ['star'])
      known[viewer] = null
    },
    says: () => world.setText('star', `${++saidCount}`),
    async hides(change: Partial<Privacy>): Promise<void> {
      // From the moment it is chosen until it is taken back; what is on its way is held back.
      await world.choose('star', change)
      isHidden = change.statusVisibility === 'nobody'
    },
    /** As a gateway hears of it; the tracker goes on from where it was. */
    erases(): void {
      const version = world.targets.isKnown(star()) ? world.targets.version(star()) + 1 : 1
      watches.erase({ kind: 'erased', userId: 'star', version, at: world.clock.now() })
    },
    lists: (viewers: readonly number[]) =>
      world.editContacts(
        'star',
        viewers.map((n) => names[n]!),
      ),
    /** Everything that is on its way arrives. */
    calm: () => world.clock.advance(3 * PACED.paceMsMax),
  }
}

function named(
  text: string,
  run: (stage: Stage) => unknown,
): { run(stage: Stage): unknown; toString(): string } {
  return { run, toString: () => text }
}

const viewer = fc.nat(VIEWERS - 1)
const privacy = fc.constantFrom<Partial<Privacy>[]>(
  { statusVisibility: 'everyone' },
  { statusVisibility: 'everyone' },
  { statusVisibility: 'nobody' },
  { statusVisibility: 'contacts' },
  { statusVisibility: 'everyone', lastSeenVisibility: 'nobody' },
  { statusVisibility: 'everyone', deny: ['viewer-0', 'viewer-5'] },
  { statusVisibility: 'everyone', deny: [] },
)
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.nat(150).map((ms) => named(`wait ${ms}`, ({ clock }) => clock.advance(ms))) },
    { weight: 4, arbitrary: fc.constant(named('says', (stage) => stage.says())) },
    { weight: 2, arbitrary: fc.constant(named('erases', (stage) => stage.erases())) },
    { weight: 3, arbitrary: viewer.map((n) => named(`watch ${n}`, (stage) => stage.watch(n))) },
    { weight: 2, arbitrary: viewer.map((n) => named(`unwatch ${n}`, (stage) => stage.unwatch(n))) },
    {
      weight: 3,
      arbitrary: privacy.map((to) => named(`hides ${JSON.stringify(to)}`, (stage) => stage.hides(to))),
    },
    {
      weight: 1,
      arbitrary: fc.uniqueArray(viewer).map((list) => named(`lists ${list}`, (stage) => stage.lists(list))),
    },
  ),
  { minLength: 10, maxLength: 50 },
)

async function play(history: readonly { run(stage: Stage): unknown }[], plans: Plans) {
  const stage = await createStage(plans)
  try {
    await stage.says()
    for (let n = 0; n < VIEWERS; n += 2) await stage.watch(n)
    for (const { run } of history) await run(stage)
    await stage.calm()
    expect(stage.outbox.waves()).toEqual({ walking: 0, waiting: 0 })
    return stage.known
  } finally {
    await stage.close()
  }
}

test('[W7, G1, G3] whatever hides and shows during a wave, everybody ends as without one', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      expect(await play(history, PACED)).toEqual(await play(history, ALL_AT_ONCE))
    }),
    { numRuns: 60 },
  )
}, 60_000)

async function audience(plans: Plans): Promise<Stage> {
  const stage = await createStage(plans)
  await stage.says()
  for (let n = 0; n < VIEWERS; n++) await stage.watch(n)
  await stage.calm()
  return stage
}

test('[W7, G3, S5] whoever loses the right is told at once, and the wave tells them nothing', async () => {
  const stage = await audience(PACED)
  await stage.says()
  await stage.hides({ statusVisibility: 'nobody' })
  await stage.clock.advance(2 * FLUSH_MS)
  expect(stage.known.map((presence) => presence?.version)).toEqual(names.map(() => 0))
  await stage.calm()
  expect(stage.framesTo).toEqual(names.map(() => 1))
  await stage.close()
})

test('[W7, G3, S6] whoever gains the right hears the state once, and not of the wave that was on its way', async () => {
  const stage = await audience(PACED)
  await stage.hides({ statusVisibility: 'everyone', deny: ['viewer-0'] })
  await stage.calm()
  const before = stage.framesTo[0]!
  await stage.says()
  await stage.clock.advance(FLUSH_MS)
  await stage.hides({ statusVisibility: 'everyone', deny: [] })
  await stage.clock.advance(2 * FLUSH_MS)
  expect(stage.known[0]?.custom_status?.text).toBe('2')
  await stage.calm()
  expect(stage.framesTo[0]).toBe(before + 1)
  await stage.close()
})

test('[W7, G3, S6] what comes into doubt during a wave is told when it is settled, once', async () => {
  const stage = await audience(PACED)
  await stage.lists([0, 1])
  await stage.calm()
  const before = [...stage.framesTo]
  const open = stage.closeGate()
  await stage.says()
  await stage.hides({ statusVisibility: 'contacts' })
  await stage.calm()
  expect(stage.framesTo).toEqual(before)
  open()
  await stage.calm()
  expect(stage.framesTo).toEqual(before.map((frames) => frames + 1))
  expect(stage.known.map((presence) => presence?.custom_status?.text ?? null)).toEqual([
    '2',
    '2',
    ...Array(VIEWERS - 2).fill(null),
  ])
  await stage.close()
})

test('[W7, G3, X6] whoever is erased is not told of by a wave to those who saw nothing of them', async () => {
  const stage = await audience(PACED)
  await stage.hides({ statusVisibility: 'everyone', deny: ['viewer-0'] })
  await stage.calm()
  const before = [...stage.framesTo]
  await stage.says()
  await stage.clock.advance(FLUSH_MS)
  stage.erases()
  await stage.calm()
  expect(stage.framesTo[0]).toBe(before[0]!)
  expect(stage.known.map((presence) => presence?.version)).toEqual(names.map(() => 0))
  await stage.close()
})

test('[W7, G3, X6] whoever hides right after being erased is forgotten by all', async () => {
  const stage = await audience(PACED)
  stage.erases()
  await stage.hides({ statusVisibility: 'nobody' })
  await stage.clock.advance(2 * FLUSH_MS)
  expect(stage.known.map((presence) => presence?.version)).toEqual(names.map(() => 0))
  await stage.close()
})

test('[W7, S6] a wave of somebody hidden does not keep their viewers from being told everything', async () => {
  const stage = await audience(PACED)
  await stage.hides({ statusVisibility: 'everyone', deny: ['viewer-0'] })
  await stage.calm()
  await stage.says()
  expect([0, 1].map(stage.outbox.isCaughtUp)).toEqual([true, false])
  await stage.close()
})

test('[W7, G5] where the audience is full a newcomer gets the state and hears no more, and may ask again', async () => {
  const stage = await createStage(FULL)
  await stage.says()
  for (let n = 0; n < 4; n++) expect(await stage.watch(n)).toHaveLength(1)
  expect(stage.known[3]).not.toHaveProperty('pushed')
  expect(await stage.watch(4)).toMatchObject([{ pushed: false, custom_status: { text: '1' } }])
  expect([stage.watches.degree(4), stage.outbox.index.edges()]).toEqual([0, 4])
  await stage.says()
  await stage.calm()
  expect(stage.framesTo.slice(0, 5)).toEqual([1, 1, 1, 1, 0])
  expect(await stage.watch(4)).toMatchObject([{ pushed: false, custom_status: { text: '2' } }])
  // A place that is free goes to the next who asks.
  stage.unwatch(0)
  expect((await stage.watch(4))[0]).not.toHaveProperty('pushed')
  await stage.says()
  await stage.calm()
  expect(stage.known[4]?.custom_status?.text).toBe('3')
  for (let n = 0; n < 5; n++) stage.unwatch(n)
  expect(stage.watches.targets()).toBe(0)
  await stage.close()
})

test('[W7, G5] a newcomer who knows the version is told too that nothing follows', async () => {
  const stage = await createStage(FULL)
  await stage.says()
  for (let n = 0; n < 4; n++) await stage.watch(n)
  const known = { star: stage.known[0]!.version }
  const options = { known, why: NAMED, isOpen: () => true } as const
  expect(await stage.done(stage.watches.watch(5, ['star'], options))).toHaveLength(1)
  stage.unwatch(0)
  expect(await stage.done(stage.watches.watch(5, ['star'], options))).toHaveLength(0)
  await stage.close()
})

test('[W7, G5, S6] a full audience tells nobody anything of somebody hidden or unknown', async () => {
  const stage = await createStage(FULL)
  await stage.says()
  await stage.hides({ statusVisibility: 'everyone', deny: ['viewer-9'] })
  for (let n = 0; n < 4; n++) await stage.watch(n)
  const [hidden] = await stage.watch(9)
  const options = { known: {}, why: NAMED, isOpen: () => true } as const
  // Those who had a place before keep it, whoever else has one.
  expect((await stage.done(stage.watches.watch(3, ['star'], options)))![0]).not.toContain('pushed')
  for (let n = 0; n < 5; n++) await stage.done(stage.watches.watch(n, ['nobody'], options))
  const [unknown] = (await stage.done(stage.watches.watch(9, ['nobody'], options)))!
  expect({ ...hidden, user_id: 'nobody' }).toEqual(JSON.parse(unknown!))
  // They keep their place, and hear of it when there is something to hear.
  await stage.hides({ statusVisibility: 'everyone', deny: [] })
  await stage.calm()
  expect(stage.known[9]?.custom_status?.text).toBe('1')
  await stage.close()
})
