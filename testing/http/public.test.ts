// Public presence: without a token, cacheable by a CDN. The answer depends only on the target, and shows only
// what the target shows to everyone. A user that hides anything looks like an unknown user.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import { connect, type TestClient } from '../clients/client.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem } from './calls.ts'
import { SERVER_KEY, secondsFromNow, securedSettings, sign, userToken } from './tokens.ts'

let server: TestServer
/** A new user for each test, who is online. */
let userId: string
let client: TestClient
let userCount = 0

beforeAll(async () => {
  server = await startServer({ offline_delay_ms: 0 })
})
afterAll(() => server.stop())
beforeEach(async () => {
  client?.close()
  userId = `user-${++userCount}`
  client = await connect(server.url, userId, { platform: 'web' })
})
afterAll(() => client.close())

const pathOf = (id: string) => `/api/v1/public/presence/${encodeURIComponent(id)}`
const look = (headers: Record<string, string> = {}, id = userId) =>
  call<Presence>(server.url, 'GET', pathOf(id), { headers })
const put = (what: string, body: object, id = userId) =>
  call(server.url, 'PUT', `/api/v1/users/${id}/${what}`, { token: 'dev', body })

const unknownUser = (id: string): Presence => ({
  user_id: id,
  status: 'offline',
  last_seen: null,
  custom_status: null,
  devices: [],
  version: 0,
})

describe('what is shown', () => {
  test('[R4] the presence object of a user who hides nothing, and no more than that', async () => {
    await put('status', { text: 'at work', emoji: '🏢' })
    const { status, body, headers } = await look()
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    expect(body).toStrictEqual({
      user_id: userId,
      status: 'online',
      last_seen: expect.any(Number),
      custom_status: { text: 'at work', emoji: '🏢', expires_at: null },
      devices: ['web'],
      version: client.welcome.self.version + 1,
    })
  })

  test('[R4] an unknown user', async () => {
    expect((await look({}, 'never-came')).body).toStrictEqual(unknownUser('never-came'))
  })

  const hidden: [string, object][] = [
    ['to contacts only', { status_visibility: 'contacts' }],
    ['to nobody', { status_visibility: 'nobody' }],
    ['to all but denied viewers: the caller may be one of them', { deny: ['mallory'] }],
    ['to reciprocal viewers only: the caller may not be one', { reciprocal: true }],
    ['to a few named viewers', { status_visibility: 'nobody', allow: ['bob'] }],
  ]
  test.each(hidden)('[R4, S6] a user visible %s looks like an unknown user', async (_, settings) => {
    await put('status', { text: 'a secret' })
    const before = await look()
    expect(before.body.status).toBe('online')
    await put('settings', settings)
    const [theirs, never] = [await look(), await look({}, 'never-connected')]
    expect(theirs.body).toStrictEqual(unknownUser(userId))
    expect(theirs.text).toBe(never.text.replace('never-connected', userId))
    expect(namesOf(theirs.headers)).toEqual(namesOf(never.headers))
    // Nor do they look different once something happens behind it.
    await put('status', { text: 'another secret' })
    expect((await look()).headers.get('etag')).toBe(theirs.headers.get('etag'))
  })

  test('[R4, S2] the invisible look offline, as they did when they went, and then nothing moves', async () => {
    await put('availability', { status: 'invisible' })
    const gone = await look()
    expect(gone.body).toMatchObject({ status: 'offline', devices: [], last_seen: expect.any(Number) })
    await put('status', { text: 'behind the mask' })
    const second = await connect(server.url, userId, { platform: 'mobile' })
    const later = await look()
    expect([later.text, later.headers.get('etag')]).toEqual([gone.text, gone.headers.get('etag')])
    second.close()
  })

  test('[R4] what is no id is refused, and not for keeping', async () => {
    for (const id of ['a b', 'a,b', 'x'.repeat(129), '\u0000'])
      expectProblem(await look({}, id), 'invalid_id')
  })
})

/** Everything but when and how long. */
const namesOf = (headers: Headers) =>
  [...headers]
    .filter(([name]) => !['date', 'etag', 'content-length'].includes(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort()

describe('callers', () => {
  test('[R4] makes no difference, with good, bad, expired or no tokens', async () => {
    const secured = await startServer(securedSettings)
    const body = { text: 'for all' }
    await call(secured.url, 'PUT', '/api/v1/presence/status', { token: userToken('alice'), body })
    const settings = { deny: ['mallory'] }
    await call(secured.url, 'PUT', '/api/v1/users/bob/settings', { token: SERVER_KEY, body: settings })
    await call(secured.url, 'PUT', '/api/v1/users/bob/status', { token: SERVER_KEY, body })
    const expired = sign({ sub: 'alice', exp: secondsFromNow(-10) })
    const tokens = ['garbage', expired, userToken('alice'), userToken('bob'), SERVER_KEY]
    for (const id of ['alice', 'bob']) {
      const plain = await call(secured.url, 'GET', pathOf(id))
      expect(plain.status).toBe(200)
      for (const token of tokens) {
        const answer = await call(secured.url, 'GET', pathOf(id), { token })
        expect([answer.status, answer.text]).toEqual([200, plain.text])
        expect(namesOf(answer.headers)).toEqual(namesOf(plain.headers))
        // It takes no parameters, so that none looks as if it made a difference.
        for (const query of [`token=${token}`, 'viewer_id=alice'])
          expectProblem(await call(secured.url, 'GET', `${pathOf(id)}?${query}`, { token }), 'bad_request')
      }
    }
    expect((await call(secured.url, 'GET', pathOf('bob'))).body).toEqual(unknownUser('bob'))
    await secured.stop()
  })

  test('[R4] a page of another origin may read it, also from a shared cache', async () => {
    const origin = 'http://localhost:9'
    const asked = await look({ origin })
    expect(['*', origin]).toContain(asked.headers.get('access-control-allow-origin')!)
    // A cache gives what it got for one origin, or for none, to all others, unless it is told not to.
    const plain = await look()
    const isForAll = plain.headers.get('access-control-allow-origin') === '*'
    const isKeptApart = /\borigin\b/i.test(plain.headers.get('vary') ?? '')
    expect(isForAll || isKeptApart).toBe(true)
  })

  test('[R4] and may send the tag back: it can read it, and is let ask with it', async () => {
    const origin = 'http://localhost:9'
    for (const headers of [{ origin }, {}])
      expect((await look(headers)).headers.get('access-control-expose-headers')).toContain('etag')
    const preflight = await call(server.url, 'OPTIONS', pathOf(userId), {
      headers: { origin, 'access-control-request-headers': 'if-none-match' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('if-none-match')
    const etag = (await look()).headers.get('etag')!
    const again = await look({ origin, 'if-none-match': etag })
    expect([again.status, again.headers.get('access-control-allow-origin')]).toEqual([304, '*'])
  })
})

describe('for caches', () => {
  test('[R4] it may be kept by any cache for half a minute and has an ETag', async () => {
    for (const id of [userId, 'never-came']) {
      const { headers } = await look({}, id)
      expect(headers.get('cache-control')).toBe('public, max-age=30')
      expect(headers.get('etag')).toMatch(/^"[^"]+"$/)
    }
  })

  test('[R4] the tag stays as long as the answer and changes with it', async () => {
    const tag = async () => (await look()).headers.get('etag')
    const first = await tag()
    expect(await tag()).toBe(first)
    await put('status', { text: 'one' })
    const second = await tag()
    expect(second).not.toBe(first)
    await put('status', { text: 'two' })
    expect([first, second]).not.toContain(await tag())
    expect((await look({}, 'never-came')).headers.get('etag')).not.toBe(
      (await look({}, 'nor-they')).headers.get('etag'),
    )
  })

  test('[R4] a matching ETag gets 304 without a body', async () => {
    const { headers } = await look()
    const etag = headers.get('etag')!
    const same = [
      etag,
      `W/${etag}`,
      '*',
      `"other", ${etag}`,
      `${etag},"other"`,
      `"a" , W/${etag} , "b"`,
      ` ${etag} `,
    ]
    for (const tags of same) {
      const again = await look({ 'if-none-match': tags })
      expect([tags, again.status, again.text]).toEqual([tags, 304, ''])
      expect(again.headers.get('etag')).toBe(etag)
      expect(again.headers.get('cache-control')).toBe('public, max-age=30')
      expect(again.headers.get('content-type')).toBeNull()
    }
  })

  test('[R4] another ETag gets the whole answer', async () => {
    const etag = (await look()).headers.get('etag')!
    const others = [
      '"other"',
      'W/"other"',
      '"a", "b"',
      '',
      etag.slice(1, -1),
      `"*"`,
      `${etag.slice(0, -1)}x"`,
      'W/',
    ]
    for (const tags of others) {
      const again = await look({ 'if-none-match': tags })
      expect([tags, again.status]).toEqual([tags, 200])
    }
    await put('status', { text: 'changed' })
    expect((await look({ 'if-none-match': etag })).status).toBe(200)
  })

  test('[R4] a user who hides is gone from caches that ask again', async () => {
    const etag = (await look()).headers.get('etag')!
    await put('settings', { status_visibility: 'nobody' })
    const again = await look({ 'if-none-match': etag })
    expect([again.status, again.body]).toEqual([200, unknownUser(userId)])
  })

  test('[R4] HEAD is GET without the body', async () => {
    const get = await look()
    const head = await call(server.url, 'HEAD', pathOf(userId))
    expect([head.status, head.text]).toEqual([200, ''])
    expect(namesOf(head.headers)).toEqual(namesOf(get.headers))
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'))
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)))
    const headers = { 'if-none-match': get.headers.get('etag')! }
    expect((await call(server.url, 'HEAD', pathOf(userId), { headers })).status).toBe(304)
  })

  test('[R4] nothing else may be done with it', async () => {
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await call(server.url, method, pathOf(userId))
      expectProblem(answer, 'method_not_allowed')
      expect(answer.headers.get('allow')).toBe('GET')
    }
  })
})
