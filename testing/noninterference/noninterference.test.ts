// A viewer who may not see a user gets the same, over every interface and in the same order, whether that user does
// anything or not [S6], and an invisible user cannot be told from one who left [S2]. Every history is played in two
// worlds, as it is and without the secret, and all that the viewer gets is compared: frames, streams, answers
// with their headers, errors, close codes.
// NONINTERFERENCE_RUNS plays more of them, GREENDOT_TEST_SEED others; what fails is printed with its seed.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { registeredRoutes } from '../http/registered-routes.ts'
import { compare, configOf, play } from './compare.ts'
import { KINDS, type Kind } from './kinds.ts'
import type { History, Step } from './moves.ts'
import { at, HIDDEN_STATUS, hides, history } from './small-histories.ts'
import type { Switchboard } from './switchboard.ts'
import { call, callByGrpc, opens } from './user-moves.ts'
import { createWorld } from './world.ts'

const RUNS = Number(process.env.NONINTERFERENCE_RUNS ?? 60)
const SEED = Number(process.env.GREENDOT_TEST_SEED ?? 1)
/** Only for a run that hangs. */
const TIMEOUT_MS = 60_000 + RUNS * 500
/** Histories in which no user sees anything of `hidden` prove nothing. */
const WITNESSED_SHARE_MIN = 0.05

async function holds({ histories, witness, mayViewerSee }: Kind): Promise<void> {
  let witnessed = 0
  const property = fc.asyncProperty(histories, async (history) => {
    const { difference, witnesses } = await compare(history)
    if (difference !== null) throw new Error(difference)
    if (witnesses.viewer && !mayViewerSee) throw new Error('the viewer was told about a hidden user')
    if (witnesses[witness]) witnessed++
  })
  await fc.assert(property, { seed: SEED, numRuns: RUNS })
  expect(witnessed).toBeGreaterThan(RUNS * WITNESSED_SHARE_MIN)
}

async function routesOfWorld(): Promise<Switchboard['routes']> {
  const world = await createWorld({ config: configOf({}), archiveMs: 0 })
  const { routes } = world.http()
  await Promise.all([world.stop(), world.clock.advance(0)])
  return routes
}

test('[S6] the world has every route there is, except those that describe them', async () => {
  const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
  const here = new Set((await routesOfWorld()).map(nameOf))
  const missing = (await registeredRoutes()).map(nameOf).filter((name) => !here.has(name))
  expect(missing.sort()).toEqual(['GET /docs', 'GET /openapi.json'])
})

test('[S6] routes for server keys are closed to users, with the same bytes', async () => {
  const forServers = (await routesOfWorld()).filter(({ who }) => who === 'server')
  const named = (path: string) => path.replace(/:\w+/, 'hidden')
  expect(forServers.map(({ path }) => path)).toContain('/api/v1/stats')
  expect(forServers.map(({ path }) => path)).toContain('/metrics')

  const knock = (as: 'self' | 'anyone'): Step =>
    at(50, ...forServers.map(({ method, path }) => call('viewer', as, method, named(path))))
  const played: History = history(
    at(0, hides(HIDDEN_STATUS)),
    at(250, opens('hidden', 'h1'), opens('viewer', 'v1')),
    knock('self'),
    knock('anyone'),
  )
  expect((await compare(played)).difference).toBeNull()
  const statuses = (await play(played)).slice(1).map(({ entries }) => entries[0]!.text.split('\n')[0])
  expect(statuses).toEqual([...forServers.map(() => 'status 403'), ...forServers.map(() => 'status 401')])
})

test('[S6, C5] the world has every method of the published service', async () => {
  const proto = await Bun.file(
    `${import.meta.dir}/../../packages/protocol/proto/greendot/v1/presence.proto`,
  ).text()
  const methods = Array.from(proto.matchAll(/^ {2}rpc (\w+)/gm), ([, name]) => name!)
  const world = await createWorld({ config: configOf({}), archiveMs: 0 })
  expect([...world.grpc().methods].sort()).toEqual(methods.sort())
  await Promise.all([world.stop(), world.clock.advance(0)])
})

test('[S6, C5] what histories do over gRPC is taken there', async () => {
  const beat = { device_id: 'v1', platform: 'PLATFORM_TABLET', activity: 'ACTIVITY_ACTIVE' }
  const heartbeats = { heartbeats: [beat], disconnected: [], gateway_id: '' }
  const played = history(
    at(250, opens('viewer', 'v1')),
    at(50, callByGrpc('viewer', 'RecordHeartbeats', heartbeats)),
    at(
      50,
      callByGrpc('viewer', 'SetAvailability', { availability: 'AVAILABILITY_BUSY', expires_in_ms: 900 }),
    ),
    at(50, callByGrpc('viewer', 'SetCustomStatus', { text: 'At sea', expires_in_ms: null })),
  )
  const lines = (await play(played)).filter(({ name }) => name.startsWith('gRPC'))
  expect(lines.map(({ entries }) => JSON.parse(entries[0]!.text))).toMatchObject([
    { accepted: 1, rejected: 0 },
    { ok: true },
    { ok: true },
  ])
})

for (const kind of KINDS) test(kind.title, () => holds(kind), TIMEOUT_MS)
