// Reading presence over HTTP: exact shapes, the order asked, where an answer comes from, and every
// refusal with its code.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { QueriedPresence } from '@greendot/protocol'
import { connect, type TestClient } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem, unknown } from './calls.ts'

let server: TestServer
let bob: TestClient
const startedAt = Date.now()

beforeAll(async () => {
  server = await startServer()
  bob = await connect(server.url, 'bob', { platform: 'mobile', deviceId: 'phone' })
  bob.send({ type: 'set_custom_status', text: 'In a meeting', emoji: '📅', ref: 1 })
  await bob.next('ok')
})
afterAll(() => server.stop())

const get = <Body = unknown>(path: string, token = 'dev:alice') =>
  call<Body>(server.url, 'GET', path, { token })
const query = <Body = unknown>(body: unknown, token = 'dev:alice') =>
  call<Body>(server.url, 'POST', '/api/v1/presence/query', { token, body })

const bobNow = {
  user_id: 'bob',
  status: 'online',
  last_seen: expect.any(Number),
  custom_status: { text: 'In a meeting', emoji: '📅', expires_at: null },
  devices: ['mobile'],
  version: expect.any(Number),
  source: 'live',
}

describe('reading presence', () => {
  test('[R1] GET answers with exactly the documented object, in the order asked', async () => {
    const answer = await get<unknown[]>('/api/v1/presence?user_ids=zoe,bob,never-seen')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toStrictEqual([unknown('zoe'), bobNow, unknown('never-seen')])
    const found = answer.body[1] as QueriedPresence
    expect(found.last_seen).toBeWithin(startedAt, Date.now() + 1)
    expect(Number.isSafeInteger(found.version)).toBe(true)
    expect(found.version).toBeGreaterThan(0)
  })

  test('[R1] POST …/query answers the same', async () => {
    const asked = await get('/api/v1/presence?user_ids=zoe,bob,never-seen')
    const answer = await query({ user_ids: ['zoe', 'bob', 'never-seen'] })
    expect(answer.status).toBe(200)
    expect(answer.body).toStrictEqual(asked.body)
  })

  test('[R1] GET of one answers with one object', async () => {
    expect((await get('/api/v1/presence/bob')).body).toStrictEqual(bobNow)
    expect((await get('/api/v1/presence/never-seen')).body).toStrictEqual(unknown('never-seen'))
  })

  test('[R1] the short form is a map from id to status', async () => {
    const answer = await get('/presence/batch?user_ids=bob,2,1,never-seen')
    expect(answer.status).toBe(200)
    expect(answer.body).toStrictEqual({
      bob: 'online',
      '2': 'offline',
      '1': 'offline',
      'never-seen': 'offline',
    })
  })

  test('[R1] a server key reads as well', async () => {
    expect((await get('/api/v1/presence/bob', 'dev')).body).toStrictEqual(bobNow)
    const asViewer = await get('/api/v1/presence?user_ids=bob&viewer_id=alice', 'dev')
    expect(asViewer.body).toStrictEqual([bobNow])
  })

  test('[R1] an id asked for twice is answered twice', async () => {
    const { body } = await query<QueriedPresence[]>({ user_ids: ['bob', 'x', 'bob'] })
    expect(body.map(({ user_id }) => user_id)).toEqual(['bob', 'x', 'bob'])
    expect(body[2]).toEqual(body[0]!)
  })

  test('[R2] a user who left is answered from the archive, with last seen', async () => {
    const watcher = await connect(server.url, 'watcher')
    watcher.send({ type: 'watch', user_ids: ['dora'] })
    await watcher.next('presence_state')
    const dora = await connect(server.url, 'dora', { platform: 'web' })
    const here = await watcher.change('dora', ({ status }) => status === 'online')
    expect((await get('/api/v1/presence/dora')).body).toStrictEqual({ ...here, source: 'live' })
    dora.send({ type: 'leave' })
    const gone = await watcher.change('dora', ({ status }) => status === 'offline')
    expect(gone).toMatchObject({ devices: [], last_seen: expect.any(Number) })
    expect(gone.version).toBeGreaterThan(here.version)
    expect((await get('/api/v1/presence/dora')).body).toStrictEqual({ ...gone, source: 'db' })
    watcher.close()
  })

  test('[R1] an empty query is an empty answer', async () => {
    expect((await query({ user_ids: [] })).body).toEqual([])
  })
})

describe('refusals', () => {
  const ids = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`)

  test('[R1] 1,000 ids are answered in order, and one more is refused', async () => {
    const asked = ids(1_000)
    const posted = await query<QueriedPresence[]>({ user_ids: asked })
    expect(posted.status).toBe(200)
    expect(posted.body.map(({ user_id }) => user_id)).toEqual(asked)
    const got = await get<QueriedPresence[]>(`/api/v1/presence?user_ids=${asked.join(',')}`)
    expect(got.body).toEqual(posted.body)
    const batch = await get<object>(`/presence/batch?user_ids=${asked.join(',')}`)
    expect(Object.keys(batch.body)).toHaveLength(1_000)

    expectProblem(await query({ user_ids: ids(1_001) }), 'too_many_ids')
    expectProblem(await get(`/api/v1/presence?user_ids=${ids(1_001).join(',')}`), 'too_many_ids')
    expectProblem(await get(`/presence/batch?user_ids=${ids(1_001).join(',')}`), 'too_many_ids')
  })

  test('[R1] 1,000 ids of full length fit the body', async () => {
    const asked = ids(1_000).map((id) => id.padEnd(128, 'x'))
    const { status, body } = await query<QueriedPresence[]>({ user_ids: asked })
    expect(status).toBe(200)
    expect(body.map(({ user_id }) => user_id)).toEqual(asked)
  })

  const badQueries = ['', '?user_ids=', '?user_id=bob', '?USER_IDS=bob']
  test.each(badQueries)('[R1] a query without ids (%p) is a bad request', async (search) => {
    expectProblem(await get(`/api/v1/presence${search}`), 'bad_request')
    expectProblem(await get(`/presence/batch${search}`), 'bad_request')
  })

  const badIds = ['a,', ',a', 'a,,b', 'a%20b', 'a%00', '%0a', 'x'.repeat(129), '%C2%A0', 'a, b']
  test.each(badIds)('[R1] %p are not ids', async (list) => {
    expectProblem(await get(`/api/v1/presence?user_ids=${list}`), 'invalid_id')
    expectProblem(await get(`/presence/batch?user_ids=${list}`), 'invalid_id')
  })

  test('[R1] a viewer that is no id is refused on every reading', async () => {
    for (const path of [
      '/api/v1/presence?user_ids=bob&',
      '/api/v1/presence/bob?',
      '/presence/batch?user_ids=bob&',
    ]) {
      expectProblem(await get(`${path}viewer_id=a%20b`, 'dev'), 'invalid_id')
      expectProblem(await get(`${path}viewer_id=`, 'dev'), 'invalid_id')
    }
  })

  const badBodies: [string, unknown, 'bad_request' | 'invalid_id'][] = [
    ['no ids', {}, 'bad_request'],
    ['a string', { user_ids: 'bob' }, 'bad_request'],
    ['null', null, 'bad_request'],
    ['a list', ['bob'], 'bad_request'],
    ['a number among the ids', { user_ids: ['bob', 7] }, 'invalid_id'],
    ['null among the ids', { user_ids: [null] }, 'invalid_id'],
    ['a list among the ids', { user_ids: [['bob']] }, 'invalid_id'],
    ['an empty id', { user_ids: ['bob', ''] }, 'invalid_id'],
  ]
  test.each(badBodies)('[R1] a query with %s', async (_, body, code) => {
    expectProblem(await query(body), code)
  })
})
