// What stands in a URL and cannot be read in one way only: bytes that are no UTF-8, and parameters that are
// there more than once. Nothing is guessed: decoders would make one good id of many bad ones.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Problem, QueriedPresence } from '@greendot/protocol'
import { openClient } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem, unknown } from './calls.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const read = <Body>(path: string) => call<Body>(server.url, 'GET', path, { token: 'dev' })
const detailOf = async (path: string) => (await read<Problem>(path)).body.detail

/** A byte alone, a character cut off, half a surrogate pair, a longer way to write a slash. */
const NOT_UTF8 = ['%FF', 'a%C3', '%C3%28', '%ED%A0%80', '%C0%AF', '%F0%9F%99']

describe('bytes that are no UTF-8', () => {
  test.each(NOT_UTF8)('%s is no id in a path', async (id) => {
    const paths = [
      `/api/v1/presence/${id}`,
      `/api/v1/public/presence/${id}`,
      `/api/v1/users/${id}/settings`,
      `/api/v1/users/${id}/contacts`,
      `/api/v1/users/${id}/export`,
    ]
    for (const path of paths) expectProblem(await read(path), 'invalid_id')
    expectProblem(await call(server.url, 'DELETE', `/api/v1/users/${id}`, { token: 'dev' }), 'invalid_id')
  })

  test.each(NOT_UTF8)('%s is no id in a query', async (id) => {
    const paths = [
      `/api/v1/presence?user_ids=bob,${id}`,
      `/api/v1/presence?user_ids=bob&user_ids=${id}`,
      `/api/v1/presence?user%5Fids=bob,${id}`,
      `/presence/batch?user_ids=${id}`,
      `/api/v1/presence/bob?viewer_id=${id}`,
      `/api/v1/explain?user_id=${id}`,
      `/api/v1/explain?user_id=bob&viewer_id=${id}`,
    ]
    for (const path of paths) expectProblem(await read(path), 'invalid_id')
    const stream = `/api/v1/stream?user_ids=${id}`
    expectProblem(await call(server.url, 'GET', stream, { token: 'dev:alice' }), 'invalid_id')
  })

  test.each(NOT_UTF8)('%s is no device', async (id) => {
    const client = openClient(server.url, 'alice', { query: `&device_id=${id}` })
    expect(await client.next('error')).toMatchObject({ code: 'invalid_id' })
    expect((await client.closed).code).toBe(4401)
  })

  test('a per cent sign that begins nothing is an error in a path and stands for itself in a query', async () => {
    for (const id of ['%', 'a%2', '%zz']) expectProblem(await read(`/api/v1/presence/${id}`), 'invalid_id')
    expect((await read(`/api/v1/presence?user_ids=100%,%EF%BF%BD%`)).body).toEqual([
      unknown('100%'),
      unknown('\ufffd%'),
    ] as never)
  })

  test('the replacement character is an id, and a parameter that is none is refused by its name', async () => {
    const { body } = await read<QueriedPresence[]>('/api/v1/presence?user_ids=%EF%BF%BD,b')
    expect(body).toEqual([unknown('\ufffd'), unknown('b')] as never)
    expect((await read('/api/v1/presence/%EF%BF%BD')).body).toEqual(unknown('\ufffd'))
    expectProblem(await read('/api/v1/presence/%EF%BF%BD?other=%FF'), 'bad_request')
    expectProblem(await read('/api/v1/presence/b?%FF=1'), 'bad_request')
  })
})

describe('a parameter that is there more than once', () => {
  test('[R1] lists are one list, in the order sent', async () => {
    const { body } = await read<QueriedPresence[]>('/api/v1/presence?user_ids=a,b&user_ids=c&user_ids=d')
    expect(body.map(({ user_id }) => user_id)).toEqual(['a', 'b', 'c', 'd'])
    const batch = await read<object>('/presence/batch?user_ids=a&user_ids=b')
    expect(Object.keys(batch.body).sort()).toEqual(['a', 'b'])
    expectProblem(await read('/api/v1/presence?user_ids=a&user_ids='), 'invalid_id')
    const ids = Array.from({ length: 501 }, (_, n) => `${n}`).join(',')
    expectProblem(await read(`/api/v1/presence?user_ids=${ids}&user_ids=${ids}`), 'too_many_ids')
  })

  test('[S6, S7] anything else is refused by its name, even when both say the same', async () => {
    const twice: [string, string][] = [
      ['/api/v1/presence/bob?viewer_id=alice&viewer_id=mallory', 'viewer_id'],
      ['/api/v1/presence?user_ids=bob&viewer_id=alice&viewer_id=alice', 'viewer_id'],
      ['/api/v1/explain?user_id=bob&user_id=carol', 'user_id'],
    ]
    for (const [path, name] of twice) {
      expectProblem(await read(path), 'bad_request')
      expect(await detailOf(path)).toContain(name)
    }
  })
})

describe('a refusal names what to mend', () => {
  const cases: [string, string, RegExp][] = [
    ['/api/v1/explain', 'bad_request', /\?user_id=/],
    ['/api/v1/explain?viewer_id=alice', 'bad_request', /\?user_id=/],
    ['/api/v1/explain?user_id=a%20b', 'invalid_id', /^user_id: /],
    ['/api/v1/explain?user_id=bob&viewer_id=', 'invalid_id', /^viewer_id: /],
    ['/api/v1/presence', 'bad_request', /\?user_ids=/],
    ['/api/v1/presence?user_ids=a,,b', 'invalid_id', /^user_ids: /],
  ]
  test.each(cases)('%s', async (path, code, says) => {
    expectProblem(await read(path), code as never)
    expect(await detailOf(path)).toMatch(says)
  })
})
