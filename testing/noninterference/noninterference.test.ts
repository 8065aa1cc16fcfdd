// Whoever may not see somebody cannot tell whether there is anybody to see [S6], and whoever sees
// somebody go invisible cannot tell that they are still there [S2]. Every history is played twice, as it
// is and without the secret, and everything the viewer gets must be the same: frames, streams, answers
// with their headers, errors, close codes, and the instant of each.
// NONINTERFERENCE_RUNS plays more of them, GREENDOT_TEST_SEED others; what fails is printed with its seed.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { registeredRoutes } from '../http/registered-routes.ts'
import { type Comparison, compare, configOf, play } from './compare.ts'
import { hiddenByChoice, hiddenByDefault, invisible, lostFromSight, slowly } from './histories.ts'
import type { History, Move, Step } from './moves.ts'
import { call, decides, erasesHidden, opens } from './people.ts'
import type { Switchboard } from './switchboard.ts'
import { createWorld } from './world.ts'

const RUNS = Number(process.env.NONINTERFERENCE_RUNS ?? 150)
const SEED = Number(process.env.GREENDOT_TEST_SEED ?? 1)
const TIMEOUT_MS = 20_000 + RUNS * 100
/** Histories in which nobody sees anything of anybody prove nothing. */
const WITNESSED_SHARE_MIN = 0.05

interface Expectation {
  /** Whose sight of `hidden` shows that there was something to see. */
  witness: keyof Comparison['witnesses']
  mayViewerSee: boolean
}

async function holds(
  histories: fc.Arbitrary<History>,
  { witness, mayViewerSee }: Expectation,
): Promise<void> {
  let witnessed = 0
  const property = fc.asyncProperty(histories, async (history) => {
    const { difference, witnesses } = await compare(history)
    if (difference !== null) throw new Error(difference)
    if (witnesses.viewer && !mayViewerSee) throw new Error('the viewer was told about somebody hidden')
    if (witnesses[witness]) witnessed++
  })
  await fc.assert(property, {
    seed: SEED,
    numRuns: RUNS,
    endOnFailure: process.env.NONINTERFERENCE_QUICK === '1',
  })
  expect(witnessed).toBeGreaterThan(RUNS * WITNESSED_SHARE_MIN)
}

async function routesOfWorld(): Promise<Switchboard['routes']> {
  const world = await createWorld({ config: configOf({}), archiveMs: 0 })
  await world.stop()
  return world.http().routes
}

test('[S6] the world has every route there is, but those that describe them', async () => {
  const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
  const here = new Set((await routesOfWorld()).map(nameOf))
  const missing = (await registeredRoutes()).map(nameOf).filter((name) => !here.has(name))
  expect(missing.sort()).toEqual(['GET /docs', 'GET /openapi.json'])
})

test('[S6] counts and everything else for server keys are closed to users, with the same bytes', async () => {
  const forServers = (await routesOfWorld()).filter(({ who }) => who === 'server')
  const named = (path: string) => path.replace(/:\w+/, 'hidden')
  expect(forServers.map(({ path }) => path)).toContain('/api/v1/stats')
  expect(forServers.map(({ path }) => path)).toContain('/metrics')

  const knock = (as: 'self' | 'anyone'): Step => ({
    moves: forServers.map(({ method, path }) => call('viewer', as, method, named(path))),
    passMs: 50,
  })
  const hides = { status_visibility: 'nobody' }
  const history: History = {
    settings: {},
    steps: [
      { moves: [call('hidden', 'backend', 'PUT', '/api/v1/users/hidden/settings', hides)], passMs: 0 },
      { moves: [opens('hidden', 'h1'), opens('viewer', 'v1')], passMs: 250 },
      knock('self'),
      knock('anyone'),
    ],
    secretFrom: 0,
  }
  expect((await compare(history)).difference).toBeNull()
  const lines = await play(history)
  const statuses = lines.slice(1).map(({ entries }) => entries[0]!.text.split('\n')[0])
  expect(statuses).toEqual([...forServers.map(() => 'status 403'), ...forServers.map(() => 'status 401')])
})

/** With a database that takes longer than a flush, so that much can happen while it is asked. */
const withSlowDatabase = (steps: readonly Step[], secretFrom: number): History => ({
  settings: {},
  steps,
  secretFrom,
  archiveMs: 100,
})
const says = (text: string): Step => ({
  moves: [call('hidden', 'self', 'PUT', '/api/v1/presence/status', { text })],
  passMs: 5,
})
const watches = (...userIds: string[]): Move => ({
  does: 'watch',
  who: 'viewer',
  device: 'v1',
  userIds,
  known: 'none',
})

test('[S6] nothing is told while contacts are looked up, not even what was about to be told', async () => {
  const hides = decides('hidden', { status_visibility: 'contacts' })
  const steps: Step[] = [
    { moves: [opens('hidden', 'h1'), opens('viewer', 'v1'), watches('hidden')], passMs: 500 },
    says('On a train'),
    { moves: [hides], passMs: 5 },
    says('At sea'),
    { moves: [], passMs: 200 },
  ]
  expect((await compare(withSlowDatabase(steps, 3))).difference).toBeNull()
})

test('[S6] whoever hides while a watch is under way is not in its snapshot', async () => {
  const steps: Step[] = [
    { moves: [decides('mutual', { status_visibility: 'contacts' })], passMs: 500 },
    { moves: [opens('hidden', 'h1'), opens('viewer', 'v1')], passMs: 500 },
    // For the sake of one of them the other has to wait.
    { moves: [watches('hidden', 'mutual')], passMs: 20 },
    { moves: [decides('hidden', { status_visibility: 'nobody' })], passMs: 5 },
    says('At sea'),
    { moves: [], passMs: 200 },
  ]
  expect((await compare(withSlowDatabase(steps, 4))).difference).toBeNull()
})

test('[S6] what is chosen soon after an erasure outlives its second round and a restart', async () => {
  const hides = call('hidden', 'backend', 'PUT', '/api/v1/users/hidden/settings', {
    status_visibility: 'nobody',
  })
  const steps: Step[] = [
    { moves: [erasesHidden], passMs: 100 },
    { moves: [hides], passMs: 11_000 },
    { moves: [{ does: 'restart', who: null }], passMs: 100 },
    { moves: [opens('hidden', 'h1'), opens('viewer', 'v1'), watches('hidden')], passMs: 100 },
  ]
  expect((await compare({ settings: {}, steps, secretFrom: 0 })).difference).toBeNull()
})

interface Kind extends Expectation {
  title: string
  histories: fc.Arbitrary<History>
}

const KINDS: readonly Kind[] = [
  {
    title: '[S6] whoever is hidden by choice might as well never have come',
    histories: hiddenByChoice,
    witness: 'friend',
    mayViewerSee: false,
  },
  {
    title: '[S6] whoever is hidden by the default might as well never have come',
    histories: hiddenByDefault,
    witness: 'friend',
    mayViewerSee: false,
  },
  {
    title: '[S2] whoever goes invisible might as well have left',
    histories: invisible,
    witness: 'viewer',
    mayViewerSee: true,
  },
  {
    title: '[S6] whoever is lost from sight might as well do nothing any more',
    histories: lostFromSight,
    witness: 'viewer',
    mayViewerSee: true,
  },
]

for (const { title, histories, ...expectation } of KINDS) {
  test(title, () => holds(histories, expectation), TIMEOUT_MS)
  test(`${title}, however slow the database`, () => holds(histories.map(slowly), expectation), TIMEOUT_MS)
}
