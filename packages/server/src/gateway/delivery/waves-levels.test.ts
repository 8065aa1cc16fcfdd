// Large audiences of a target whose privacy changes: whatever the plan, every viewer ends at the same state,
// and no wave tells a viewer what the viewer may not see by then. The same history is played on the real
// gateway parts with waves and without.
import { expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import fc from 'fast-check'
import { presencesIn } from '../../../../../testing/clients/hearing.ts'
import { createGatewayWorld, FLUSH_MS } from '../../../../../testing/worlds/gateway-world.ts'
import type { Privacy } from '../../presence/core/privacy.ts'
import { ALL_AT_ONCE, type Plans } from './plans.ts'
import type { Pace } from './waves.ts'

const VIEWERS = 10
const PACED: Plans = { pacedAbove: 2, queuedAbove: 6, polledAbove: 0, paceMsMax: 1_000 }
const FULL: Plans = { pacedAbove: 2, queuedAbove: 6, polledAbove: 4, paceMsMax: 1_000 }
/** One viewer every 20 ms, so that much can happen before the last. */
const SLOW: Pace = { pacedPerMs: 0.05, queuedPerMs: 0.05, queuedPerMsMax: 0.2, walkers: 1 }
const names = Array.from({ length: VIEWERS }, (_, n) => `viewer-${n}`)

type Stage = Awaited<ReturnType<typeof createStage>>

/** Viewers that may watch one target, the star, and what each of them knows of it. */
async function createStage(plans: Plans) {
  const known = names.map((): Presence | null => null)
  const framesTo = names.map(() => 0)
  let isHiddenFromAll = false

  function learn(viewer: number, presence: Presence): void {
    const before = known[viewer]
    if (presence.version !== 0) {
      expect(presence.version).toBeGreaterThanOrEqual(before?.version ?? 0)
      if (isHiddenFromAll) throw new Error(`${names[viewer]} was told of a target that is hidden from all`)
    }
    known[viewer] = presence
  }
  const world = await createGatewayWorld({
    plans,
    pace: SLOW,
    viewers: names,
    hear(viewer, frame) {
      framesTo[viewer]!++
      for (const presence of presencesIn(frame)) learn(viewer, presence)
    },
  })
  const { clock, delivery, watching, interner } = world
  let texts = 0

  return {
    ...world,
    known,
    framesTo,
    async watchStar(viewer: number): Promise<Presence[]> {
      if (delivery.edges.degree(viewer) > 0) return []
      known[viewer] = null
      const presences = await world.watch(viewer, ['star'])
      for (const presence of presences) learn(viewer, presence)
      return presences
    },
    unwatchStar(viewer: number): void {
      watching.unwatch(viewer, ['star'])
      known[viewer] = null
    },
    changeText: () => world.setText('star', `${++texts}`),
    async choosePrivacy(change: Partial<Privacy>): Promise<void> {
      // From the moment it is chosen until it is taken back; what is on its way is held.
      await world.choose('star', change)
      isHiddenFromAll = change.statusVisibility === 'nobody'
    },
    /** As a gateway hears of it; the tracker goes on from where it was. */
    erase(): void {
      const star = interner.find('star')
      const version = delivery.targets.isKnown(star) ? delivery.targets.version(star) + 1 : 1
      watching.erase({ kind: 'erased', userId: 'star', version, at: clock.now() })
    },
    listContacts: (viewers: readonly number[]) =>
      world.editContacts(
        'star',
        viewers.map((n) => names[n]!),
      ),
    /** Everything that is on its way arrives. */
    calm: () => clock.advance(3 * PACED.paceMsMax),
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
    { weight: 4, arbitrary: fc.constant(named('change text', (stage) => stage.changeText())) },
    { weight: 2, arbitrary: fc.constant(named('erase', (stage) => stage.erase())) },
    { weight: 3, arbitrary: viewer.map((n) => named(`watch ${n}`, (stage) => stage.watchStar(n))) },
    { weight: 2, arbitrary: viewer.map((n) => named(`unwatch ${n}`, (stage) => stage.unwatchStar(n))) },
    {
      weight: 3,
      arbitrary: privacy.map((to) =>
        named(`choose ${JSON.stringify(to)}`, (stage) => stage.choosePrivacy(to)),
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .uniqueArray(viewer)
        .map((list) => named(`list ${list}`, (stage) => stage.listContacts(list))),
    },
  ),
  { minLength: 10, maxLength: 50 },
)

async function play(history: readonly { run(stage: Stage): unknown }[], plans: Plans) {
  const stage = await createStage(plans)
  try {
    await stage.changeText()
    for (let n = 0; n < VIEWERS; n += 2) await stage.watchStar(n)
    for (const { run } of history) await run(stage)
    await stage.calm()
    expect(stage.delivery.waves()).toEqual({ walking: 0, waiting: 0 })
    return stage.known
  } finally {
    await stage.close()
  }
}

test('[W7, G1, G3] whatever privacy changes during a wave, every viewer ends as without a wave', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      expect(await play(history, PACED)).toEqual(await play(history, ALL_AT_ONCE))
    }),
    { numRuns: 60 },
  )
}, 60_000)

async function audience(plans: Plans): Promise<Stage> {
  const stage = await createStage(plans)
  await stage.changeText()
  for (let n = 0; n < VIEWERS; n++) await stage.watchStar(n)
  await stage.calm()
  return stage
}

test('[W7, G3, S5] a viewer that may see no more is told at once, and by the wave nothing', async () => {
  const stage = await audience(PACED)
  await stage.changeText()
  await stage.choosePrivacy({ statusVisibility: 'nobody' })
  await stage.clock.advance(2 * FLUSH_MS)
  expect(stage.known.map((presence) => presence?.version)).toEqual(names.map(() => 0))
  await stage.calm()
  expect(stage.framesTo).toEqual(names.map(() => 1))
  await stage.close()
})

test('[W7, G3, S6] a viewer that may see now is told the state once, and not again by the wave under way', async () => {
  const stage = await audience(PACED)
  await stage.choosePrivacy({ statusVisibility: 'everyone', deny: ['viewer-0'] })
  await stage.calm()
  const before = stage.framesTo[0]!
  await stage.changeText()
  await stage.clock.advance(FLUSH_MS)
  await stage.choosePrivacy({ statusVisibility: 'everyone', deny: [] })
  await stage.clock.advance(2 * FLUSH_MS)
  expect(stage.known[0]?.custom_status?.text).toBe('2')
  await stage.calm()
  expect(stage.framesTo[0]).toBe(before + 1)
  await stage.close()
})

test('[W7, G3, S6] edges held during a wave are told once, after the look-up', async () => {
  const stage = await audience(PACED)
  await stage.listContacts([0, 1])
  await stage.calm()
  const before = [...stage.framesTo]
  const open = stage.closeGate()
  await stage.changeText()
  await stage.choosePrivacy({ statusVisibility: 'contacts' })
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

test('[W7, G3, X6] the erasure of a target is not told to viewers that saw nothing of it', async () => {
  const stage = await audience(PACED)
  await stage.choosePrivacy({ statusVisibility: 'everyone', deny: ['viewer-0'] })
  await stage.calm()
  const before = [...stage.framesTo]
  await stage.changeText()
  await stage.clock.advance(FLUSH_MS)
  stage.erase()
  await stage.calm()
  expect(stage.framesTo[0]).toBe(before[0]!)
  expect(stage.known.map((presence) => presence?.version)).toEqual(names.map(() => 0))
  await stage.close()
})

test('[W7, G3, X6] a target that hides right after its erasure ends as version 0 for all viewers', async () => {
  const stage = await audience(PACED)
  stage.erase()
  await stage.choosePrivacy({ statusVisibility: 'nobody' })
  await stage.clock.advance(2 * FLUSH_MS)
  expect(stage.known.map((presence) => presence?.version)).toEqual(names.map(() => 0))
  await stage.close()
})

test('[W7, S6] a viewer that sees nothing of the target is caught up during its wave', async () => {
  const stage = await audience(PACED)
  await stage.choosePrivacy({ statusVisibility: 'everyone', deny: ['viewer-0'] })
  await stage.calm()
  await stage.changeText()
  expect([0, 1].map(stage.delivery.isCaughtUp)).toEqual([true, false])
  await stage.close()
})

test('[W7, G5] where the audience is full a new watcher gets the state and no changes, and may ask again', async () => {
  const stage = await createStage(FULL)
  await stage.changeText()
  for (let n = 0; n < 4; n++) expect(await stage.watchStar(n)).toHaveLength(1)
  expect(stage.known[3]).not.toHaveProperty('pushed')
  expect(await stage.watchStar(4)).toMatchObject([{ pushed: false, custom_status: { text: '1' } }])
  expect([stage.delivery.edges.degree(4), stage.delivery.edges.count()]).toEqual([0, 4])
  await stage.changeText()
  await stage.calm()
  expect(stage.framesTo.slice(0, 5)).toEqual([1, 1, 1, 1, 0])
  expect(await stage.watchStar(4)).toMatchObject([{ pushed: false, custom_status: { text: '2' } }])
  // A free place goes to the next watcher that asks.
  stage.unwatchStar(0)
  expect((await stage.watchStar(4))[0]).not.toHaveProperty('pushed')
  await stage.changeText()
  await stage.calm()
  expect(stage.known[4]?.custom_status?.text).toBe('3')
  for (let n = 0; n < 5; n++) stage.unwatchStar(n)
  expect(stage.watching.targetCount()).toBe(0)
  await stage.close()
})

test('[W7, G5] a new watcher that knows the version is told too that no changes follow', async () => {
  const stage = await createStage(FULL)
  await stage.changeText()
  for (let n = 0; n < 4; n++) await stage.watchStar(n)
  const known = { star: stage.known[0]!.version }
  expect(await stage.watch(5, ['star'], known)).toHaveLength(1)
  stage.unwatchStar(0)
  expect(await stage.watch(5, ['star'], known)).toHaveLength(0)
  await stage.close()
})

test('[W7, G5, S6] a full audience looks the same for a hidden target and an unknown user', async () => {
  const stage = await createStage(FULL)
  await stage.changeText()
  await stage.choosePrivacy({ statusVisibility: 'everyone', deny: ['viewer-9'] })
  for (let n = 0; n < 4; n++) await stage.watchStar(n)
  const [hidden] = await stage.watchStar(9)
  // A watcher that had a place before keeps it.
  expect((await stage.watch(3, ['star']))[0]).not.toHaveProperty('pushed')
  for (let n = 0; n < 5; n++) await stage.watch(n, ['unknown'])
  const [unknown] = await stage.watch(9, ['unknown'])
  expect({ ...hidden!, user_id: 'unknown' }).toEqual(unknown!)
  // The viewer keeps its place, and is told when there is something to see.
  await stage.choosePrivacy({ statusVisibility: 'everyone', deny: [] })
  await stage.calm()
  expect(stage.known[9]?.custom_status?.text).toBe('1')
  await stage.close()
})
