// Ids at the edges of what an id may be, in every place an id can stand: token, path, query, body,
// frame, device.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { QueriedPresence } from '@greendot/protocol'
import { connect } from '../clients/client.ts'
import { spawnServer, startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem, unknown } from './calls.ts'
import { SERVER_KEY, securedSettings, userToken } from './tokens.ts'

/** Names of routes are ids too, but their paths are taken: they are read by query. */
const IDS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'length',
  '0',
  '-1',
  'null',
  'undefined',
  'NaN',
  '日本語',
  '👩‍🚀',
  'é',
  'e\u0301',
  'İstanbul',
  'user@example.org',
  'a/b',
  '../../etc/passwd',
  'a?b=c',
  'a#b',
  'a%2Fb',
  '%00',
  '%',
  'a+b',
  "a'b",
  'a"b',
  'a\\b',
  '<script>',
  "'; DROP TABLE user_last_seen; --",
  '\u200b',
  '\ufffd',
  '\u{10ffff}',
  'x'.repeat(128),
  'é'.repeat(64),
  '🙂'.repeat(32),
].filter((id) => !/\s/.test(id))

let server: TestServer
beforeAll(async () => {
  server = await startServer(securedSettings)
})
afterAll(() => server.stop())

const read = <Body>(path: string) => call<Body>(server.url, 'GET', path, { token: SERVER_KEY })

describe('ids', () => {
  test.each(IDS)('%p is an id of an ordinary user', async (id) => {
    const path = `/api/v1/presence/${encodeURIComponent(id)}`
    expect((await read(path)).body).toStrictEqual(unknown(id))

    const watcher = await connect(server.url, '', { token: userToken('watcher') })
    watcher.send({ type: 'watch', user_ids: [id], ref: 1 })
    expect((await watcher.next('presence_state')).states.map(({ user_id }) => user_id)).toEqual([id])

    const person = await connect(server.url, '', { token: userToken(id), deviceId: id, platform: 'web' })
    expect(person.welcome).toMatchObject({ user_id: id, device_id: id })
    const seen = await watcher.change(id, ({ status }) => status === 'online')
    const expected = { ...seen, source: 'live' as const }

    expect((await read<QueriedPresence>(path)).body).toStrictEqual(expected)
    const query = encodeURIComponent(id)
    expect((await read<unknown>(`/api/v1/presence?user_ids=x,${query}`)).body).toEqual([
      unknown('x'),
      expected,
    ])
    const posted = await call<unknown>(server.url, 'POST', '/api/v1/presence/query', {
      token: SERVER_KEY,
      body: { user_ids: [id] },
    })
    expect(posted.body).toEqual([expected])
    const batch = (await read<object>(`/presence/batch?user_ids=${query},unknown`)).body
    expect(Object.entries(batch).sort()).toEqual(
      [
        [id, 'online'],
        ['unknown', 'offline'],
      ].sort() as never,
    )

    watcher.send({ type: 'unwatch', user_ids: [id], ref: 2 })
    await watcher.next('ok', ({ ref }) => ref === 2)
    person.send({ type: 'leave' })
    await person.closed
    watcher.close()
  })

  test('ids that look alike are different users', async () => {
    const composed = await connect(server.url, '', { token: userToken('caf\u00e9') })
    const { body } = await read<QueriedPresence[]>(
      `/api/v1/presence?user_ids=${encodeURIComponent('caf\u00e9,cafe\u0301,CAF\u00c9,caf\u00e9x')}`,
    )
    expect(body.map(({ status }) => status)).toEqual(['online', 'offline', 'offline', 'offline'])
    composed.close()
  })

  const NOT_IN_PATHS = [
    'a%20b',
    'a%09',
    '%0a',
    'a%2Cb',
    '%C2%85',
    '%E2%80%A8',
    '%EF%BB%BF',
    'x'.repeat(129),
    '%F0%9F%99%82'.repeat(33),
  ]
  test.each(NOT_IN_PATHS)('/api/v1/presence/%s is no id', async (segment) => {
    expectProblem(await read(`/api/v1/presence/${segment}`), 'invalid_id')
  })

  test('users whose id is the name of a route are read by query', async () => {
    const { body } = await read<QueriedPresence[]>('/api/v1/presence?user_ids=query,status,availability')
    expect(body).toEqual([unknown('query'), unknown('status'), unknown('availability')] as never)
  })

  test('[S4] odd ids and texts that were answered survive a crash', async () => {
    const text = 'a\u0001b\n"\'\\ 👩‍🚀 \u202e'
    const first = await spawnServer(securedSettings)
    for (const id of IDS) {
      const token = userToken(id)
      expect(
        (await call(first.url, 'PUT', '/api/v1/presence/status', { token, body: { text } })).status,
      ).toBe(200)
    }
    await first.kill()
    const second = await spawnServer(securedSettings, first.folder)
    const { body } = await call<QueriedPresence[]>(second.url, 'POST', '/api/v1/presence/query', {
      token: SERVER_KEY,
      body: { user_ids: IDS },
    })
    expect(body.map(({ user_id }) => user_id)).toEqual(IDS)
    for (const { custom_status } of body)
      expect(custom_status).toEqual({ text, emoji: null, expires_at: null })
    await second.stop()
  })
})
