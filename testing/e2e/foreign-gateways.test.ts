// Foreign gateways over HTTP, on one server: a batch with bad entries is applied to the good ones, and its users are
// present by the same rules as users with a WebSocket.
import { expect, test } from 'bun:test'
import { createPatientClock } from '../clients/patient-clock.ts'
import { call, isAway, isOffline, isOnline, useScene, watch } from './scene.ts'

const scene = useScene()

interface Recorded {
  accepted: number
  rejected: { index: number; code: string }[]
  code?: string
}

const report = (url: string, body: object, token = 'dev') =>
  call<Recorded>(url, token, 'POST', '/api/v1/heartbeats', body)

const alive = (userId: string, rest: object = {}) => ({
  user_id: userId,
  device_id: 'd1',
  platform: 'web',
  activity: 'active',
  ...rest,
})

test('[C4] users of a foreign gateway come, are idle, leave and are lost, for watchers as any others', async () => {
  const settings = { heartbeat_interval_ms: 300, heartbeat_ttl_ms: 1_500, offline_delay_ms: 200 }
  // A machine that is busy does not make clients seem silent.
  const { url } = await scene.server(settings, createPatientClock())
  const alice = await scene.person(url, 'alice', { beatEveryMs: 200 })
  await watch(alice, ['bob', 'carol'])
  const gateway_id = 'chat-1'
  const sessions = [
    alive('bob'),
    alive('carol', { platform: 'mobile', activity: undefined, activity_type: 'idle' }),
  ]
  expect((await report(url, { gateway_id, sessions })).body).toEqual({ accepted: 2, rejected: [] })
  await alice.sees('bob', isOnline)
  const { presence } = await alice.sees('carol', isAway)
  expect(presence.devices).toEqual(['mobile'])
  const over = [{ user_id: 'bob', device_id: 'd1' }]
  expect((await report(url, { gateway_id, disconnected: over })).body).toEqual({ accepted: 1, rejected: [] })
  // Nothing more is said of carol: the gateway may have died.
  for (const name of ['bob', 'carol']) await alice.sees(name, (seen) => isOffline(seen) && seen.version > 0)
})

test('[C4] bad entries are named, and the good ones are recorded', async () => {
  const { url } = await scene.server()
  const sessions = [
    alive('ada'),
    alive('not an id'),
    alive('bob', { device_id: '' }),
    alive('carol', { platform: 'toaster' }),
    alive('dave', { activity: 'asleep' }),
    alive('erin', { at: 'yesterday' }),
    alive('frank', { at: 12 }),
    alive('grace', { misspelt: 1 }),
    null,
    7,
    alive('heidi', { at: new Date().toISOString(), activity: 'idle' }),
  ]
  const disconnected = [{ user_id: 'ivan', device_id: 'd1' }, { user_id: 'judy' }]
  const { status, body } = await report(url, { gateway_id: 'chat-1', sessions, disconnected })
  expect(status).toBe(200)
  expect(body.accepted).toBe(3)
  expect(body.rejected.map(({ index, code }) => [index, code])).toEqual([
    [1, 'invalid_id'],
    [2, 'invalid_id'],
    [3, 'bad_request'],
    [4, 'bad_request'],
    [5, 'bad_request'],
    [6, 'bad_request'],
    [7, 'bad_request'],
    [8, 'bad_request'],
    [9, 'bad_request'],
    [12, 'invalid_id'],
  ])
  const read = await call<Record<string, string>>(
    url,
    'dev',
    'GET',
    '/presence/batch?user_ids=ada,heidi,carol',
  )
  expect(read.body).toEqual({ ada: 'online', heidi: 'away', carol: 'offline' })
})

test('[C4] a batch that is no batch is refused as a whole', async () => {
  const { url } = await scene.server()
  const many = Array.from({ length: 9_999 }, (_, n) => ({
    user_id: `u${n}`,
    device_id: 'd',
    activity: 'idle',
  }))
  const two = [1, 2].map((n) => ({ user_id: `v${n}`, device_id: 'd' }))
  const cases: [object, number, string][] = [
    [{ sessions: [] }, 400, 'invalid_id'],
    [{ gateway_id: 'a b', sessions: [] }, 400, 'invalid_id'],
    [{ gateway_id: 'g', sessions: 'all' }, 400, 'bad_request'],
    [{ gateway_id: 'g', session: [] }, 400, 'bad_request'],
    [{ gateway_id: 'g', sessions: many, disconnected: two }, 400, 'too_many_ids'],
  ]
  for (const [body, status, code] of cases)
    expect(await report(url, body)).toMatchObject({ status, body: { code } })
  expect(await report(url, { gateway_id: 'g' }, 'dev:alice')).toMatchObject({ status: 403 })
  expect((await report(url, { gateway_id: 'g', sessions: many, disconnected: two.slice(1) })).body).toEqual({
    accepted: 10_000,
    rejected: [],
  })
})

test('[D4] a heartbeat frame may call its activity activity_type, too', async () => {
  const { url } = await scene.server()
  const alice = await scene.person(url, 'alice')
  await watch(alice, ['bob'])
  const bob = await scene.person(url, 'bob')
  await alice.sees('bob', isOnline)
  bob.send({ type: 'heartbeat', activity_type: 'idle' })
  await alice.sees('bob', isAway)
})
