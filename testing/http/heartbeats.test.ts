// Being here without a WebSocket: beats and goodbyes over HTTP have the effects of frames.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ErrorCode, OwnPresence } from '@greendot/protocol'
import { connect, type TestClient } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem } from './calls.ts'

const SESSIONS_PER_USER = 4

let server: TestServer
let watcher: TestClient
let userId: string
let userCount = 0

beforeAll(async () => {
  server = await startServer({ sessions_per_user: SESSIONS_PER_USER })
  watcher = await connect(server.url, 'watcher')
})
afterAll(() => server.stop())
beforeEach(async () => {
  userId = `user-${++userCount}`
  watcher.send({ type: 'watch', user_ids: [userId] })
  await watcher.next('presence_state', ({ states }) => states[0]?.user_id === userId)
})

const post = (path: string, body: unknown) =>
  call<Record<string, number> & { self?: OwnPresence }>(server.url, 'POST', path, {
    token: `dev:${userId}`,
    body,
  })
const beat = (body: object) => post('/api/v1/heartbeat', { device_id: 'd1', activity: 'active', ...body })
const leave = (deviceId: string) => post('/api/v1/leave', { device_id: deviceId })

/** The own view, which any choice answers with. */
const own = async () =>
  (await call<OwnPresence>(server.url, 'DELETE', '/api/v1/presence/status', { token: `dev:${userId}` })).body

describe('heartbeats over HTTP', () => {
  test('[D8] the first one makes the user online and answers with interval and time to live', async () => {
    const sentAt = Date.now()
    const answer = await beat({ platform: 'console' })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body).sort()).toEqual([
      'away_after_ms',
      'heartbeat_interval_ms',
      'heartbeat_ttl_ms',
      'self',
      'server_time',
      'user_id',
    ])
    expect(answer.body.self).toMatchObject({ user_id: userId, status: 'online' })
    expect(answer.body).toMatchObject({ heartbeat_interval_ms: 15_000, heartbeat_ttl_ms: 30_000 })
    expect(answer.body.server_time).toBeWithin(sentAt, Date.now() + 1)
    expect(await watcher.change(userId)).toMatchObject({ status: 'online', devices: ['console'] })
  })

  test('[D8] the own view comes with the first answer, and again with the next one after it changed', async () => {
    await beat({})
    expect((await beat({})).body.self).toBeUndefined()
    await call(server.url, 'PUT', '/api/v1/presence/availability', {
      token: `dev:${userId}`,
      body: { status: 'busy' },
    })
    expect((await beat({})).body.self).toMatchObject({ availability: 'busy' })
    expect((await beat({})).body.self).toBeUndefined()
  })

  test('[D8] a device that beats again is the same session, and only activity moves it', async () => {
    await beat({ platform: 'web' })
    await watcher.change(userId, ({ status }) => status === 'online')
    await beat({ activity: 'idle' })
    await watcher.change(userId, ({ status }) => status === 'away')
    await beat({ activity: 'active' })
    await watcher.change(userId, ({ status }) => status === 'online')
    expect((await own()).sessions).toHaveLength(1)
  })

  test('[D8] two first beats of one device at once are one session', async () => {
    await Promise.all(Array.from({ length: 8 }, () => beat({})))
    expect((await own()).sessions.map(({ device_id }) => device_id)).toEqual(['d1'])
  })

  test('[D8] a WebSocket of the same device is another session', async () => {
    const client = await connect(server.url, userId, { deviceId: 'd1', platform: 'web' })
    await beat({ platform: 'web' })
    expect((await own()).sessions).toHaveLength(2)
    client.close()
  })

  test('[D8] a goodbye takes effect at once, for that device only', async () => {
    await beat({ platform: 'web' })
    await beat({ device_id: 'd2', platform: 'mobile' })
    await watcher.change(userId, ({ devices }) => devices.length === 2)
    expect((await leave('d1')).status).toBe(204)
    await watcher.change(userId, ({ devices }) => devices.join() === 'mobile')
    expect((await leave('d2')).status).toBe(204)
    await watcher.change(userId, ({ status }) => status === 'offline')
  })

  test('[D2] a goodbye over HTTP closes the WebSockets of that device with 1000', async () => {
    const gone = await connect(server.url, userId, { deviceId: 'd1' })
    const stays = await connect(server.url, userId, { deviceId: 'd2' })
    expect(await leave('d1')).toMatchObject({ status: 204, text: '' })
    expect((await gone.closed).code).toBe(1000)
    stays.send({ type: 'heartbeat', activity: 'active', ref: 1 })
    await stays.next('ok')
    stays.close()
  })

  test('[D2] a goodbye of a device that is not here changes nothing', async () => {
    await beat({})
    const before = await own()
    expect((await leave('another')).status).toBe(204)
    expect(await own()).toEqual(before)
  })

  test('one user has as many sessions as allowed, and beats of those go on', async () => {
    for (let device = 0; device < SESSIONS_PER_USER; device++) {
      expect((await beat({ device_id: `d${device}` })).status).toBe(200)
    }
    expectProblem(await beat({ device_id: 'one-too-many' }), 'rate_limited')
    expect((await beat({ device_id: 'd0' })).status).toBe(200)
    expect((await own()).sessions).toHaveLength(SESSIONS_PER_USER)
    await leave('d1')
    expect((await beat({ device_id: 'now-there-is-room' })).status).toBe(200)
  })

  const refused: [string, string, unknown, ErrorCode][] = [
    ['no device', '/api/v1/heartbeat', { activity: 'active' }, 'invalid_id'],
    ['a blank device', '/api/v1/heartbeat', { device_id: ' ', activity: 'active' }, 'invalid_id'],
    [
      'a device of 129 bytes',
      '/api/v1/heartbeat',
      { device_id: 'x'.repeat(129), activity: 'idle' },
      'invalid_id',
    ],
    ['a number for a device', '/api/v1/heartbeat', { device_id: 1, activity: 'active' }, 'invalid_id'],
    ['no activity', '/api/v1/heartbeat', { device_id: 'd1' }, 'bad_request'],
    ['another activity', '/api/v1/heartbeat', { device_id: 'd1', activity: 'asleep' }, 'bad_request'],
    [
      'a toaster',
      '/api/v1/heartbeat',
      { device_id: 'd1', activity: 'idle', platform: 'toaster' },
      'bad_request',
    ],
    ['a list', '/api/v1/heartbeat', [], 'bad_request'],
    ['a goodbye without an id', '/api/v1/leave', {}, 'invalid_id'],
    ['a goodbye of null', '/api/v1/leave', { device_id: null }, 'invalid_id'],
  ]
  test.each(refused)('[D8] %s is refused and makes no user present', async (_, path, body, code) => {
    expectProblem(await post(path, body), code)
    expect(await own()).toMatchObject({ status: 'offline', sessions: [], version: 0 })
  })
})
