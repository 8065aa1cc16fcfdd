// Access to routes and the form of refusals: unknown paths, wrong methods, tokens on the wrong route, other
// origins. Every route is in the table below; a new one belongs there too.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem } from './calls.ts'
import { SERVER_KEY, securedSettings, userToken } from './tokens.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'
type Caller = 'anyone' | 'user' | 'server' | 'caller'

const ROUTES: [string, Partial<Record<Method, Caller>>][] = [
  ['/api/v1/presence?user_ids=a', { GET: 'caller' }],
  ['/api/v1/presence/query', { POST: 'caller' }],
  ['/api/v1/presence/bob', { GET: 'caller' }],
  ['/presence/batch?user_ids=a', { GET: 'caller' }],
  ['/api/v1/presence/status', { PUT: 'user', DELETE: 'user' }],
  ['/api/v1/presence/availability', { PUT: 'user' }],
  ['/api/v1/heartbeat', { POST: 'user' }],
  ['/api/v1/leave', { POST: 'user' }],
  ['/healthz', { GET: 'anyone' }],
  ['/readyz', { GET: 'anyone' }],
  ['/metrics', { GET: 'server' }],
  ['/api/v1/stats', { GET: 'server' }],
]

/** A body that each route takes, so that what is refused is refused for who asks. */
const BODIES: Record<string, object> = {
  '/api/v1/presence/query': { user_ids: ['a'] },
  '/api/v1/presence/status': { text: 'hello' },
  '/api/v1/presence/availability': { status: 'busy' },
  '/api/v1/heartbeat': { device_id: 'd', activity: 'idle' },
  '/api/v1/leave': { device_id: 'd' },
}

const ALL_METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] as const
const cases = ROUTES.flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, who]) => [method as Method, path, who] as [Method, string, Caller]),
)

let dev: TestServer
let secured: TestServer
beforeAll(async () => {
  dev = await startServer()
  secured = await startServer(securedSettings)
})
afterAll(async () => {
  await dev.stop()
  await secured.stop()
})

function ask(method: string, path: string, token?: string, headers: Record<string, string> = {}) {
  const body = method === 'GET' || method === 'DELETE' ? undefined : BODIES[path]
  const url = token?.startsWith('dev') ? dev.url : secured.url
  return call(url, method, path, {
    headers,
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body }),
  })
}

describe('access by token', () => {
  test.each(cases)('[C6] %s %s is for %s', async (method, path, who) => {
    const without = await ask(method, path)
    const asUser = await ask(method, path, userToken('alice'))
    const asServer = await ask(method, path, SERVER_KEY)
    const answered = [200, 204]
    if (who === 'anyone') return expect(answered).toContain(without.status)
    expectProblem(without, 'unauthorized')
    expect(without.headers.get('www-authenticate')).toBe('Bearer')
    for (const garbage of ['garbage', 'a.b.c', `${SERVER_KEY}x`, SERVER_KEY.slice(1), 'dev', 'dev:alice']) {
      expectProblem(await call(secured.url, method, path, { token: garbage }), 'unauthorized')
    }
    if (who === 'server') expectProblem(asUser, 'forbidden')
    else expect(answered).toContain(asUser.status)
    if (who === 'user') expectProblem(asServer, 'forbidden')
    else expect(answered).toContain(asServer.status)
  })

  test('[C6] a token in the URL opens no HTTP route', async () => {
    const { url } = dev
    expectProblem(await call(url, 'GET', '/api/v1/presence?user_ids=a&token=dev:alice'), 'unauthorized')
    expectProblem(await call(url, 'GET', '/api/v1/stats?token=dev'), 'unauthorized')
  })

  const authorizations = [
    'dev:alice',
    'Basic ZGV2OmFsaWNl',
    'Bearer',
    'Bearer  ',
    'Bearer dev:alice dev',
    'Bearer: dev',
  ]
  test.each(authorizations)('[C6] Authorization: %s is no token', async (authorization) => {
    expectProblem(
      await call(dev.url, 'GET', '/api/v1/presence/a', { headers: { authorization } }),
      'unauthorized',
    )
  })

  test('[C6] the word Bearer may be written as one likes', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      const headers = { authorization: `${scheme} dev:alice` }
      expect((await call(dev.url, 'GET', '/api/v1/presence/a', { headers })).status).toBe(200)
    }
  })
})

describe('paths and methods', () => {
  test.each(ROUTES)('%s says which methods it takes', async (path, methods) => {
    for (const method of ALL_METHODS.filter((one) => !(one in methods))) {
      const answer = await ask(method, path, 'dev:alice')
      expectProblem(answer, 'method_not_allowed')
      expect(answer.headers.get('allow')).toBe(Object.keys(methods).join(', '))
    }
  })

  test.each(ROUTES.filter(([, methods]) => 'GET' in methods))(
    'HEAD %s is GET without the body',
    async (path) => {
      const answer = await ask('HEAD', path, 'dev')
      expect(answer.status).toBe(200)
      expect(answer.text).toBe('')
      expectProblem(await ask('PATCH', path, 'dev'), 'method_not_allowed')
    },
  )

  const nowhere = [
    '/nothing',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v2/presence/a',
    '/api/v1/presence/',
    '/api/v1/presence/a/b',
    '/api/v1/presence/status/',
    '/API/V1/PRESENCE/a',
    '/healthz/',
    '/metrics/x',
    '/.env',
    '/__proto__',
    '/constructor',
  ]
  test.each(nowhere)('%s is not found', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expectProblem(await call(dev.url, method, path, { token: 'dev' }), 'not_found')
    }
  })

  test('the path of the WebSocket says so to a plain request', async () => {
    for (const method of ['GET', 'POST', 'PUT']) {
      expectProblem(await call(dev.url, method, '/api/v1/ws', { token: 'dev:alice' }), 'bad_request')
    }
  })
})

const LOCAL = [
  'http://localhost:3000',
  'http://127.0.0.1:8080',
  'https://localhost',
  'http://[::1]:5173',
  'http://127.1.2.3',
]
const FOREIGN = [
  'http://evil.example',
  'https://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://localhost@evil.example',
  'http://evil.example#localhost',
  'http://128.0.0.1',
  'http://[::2]',
  'null',
  'localhost',
  'file://',
]

describe('origins', () => {
  test.each(LOCAL)('in dev mode a page from %s may call', async (origin) => {
    const answer = await call(dev.url, 'GET', '/api/v1/presence/a', {
      token: 'dev:alice',
      headers: { origin },
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    expect(answer.headers.get('vary')).toContain('origin')
  })

  test.each(FOREIGN)('[C6] in dev mode a page from %s may not, on any route', async (origin) => {
    for (const [method, path] of cases) {
      const answer = await ask(method, path, 'dev:alice', { origin })
      expectProblem(answer, 'forbidden')
      expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    }
    const preflight = await call(dev.url, 'OPTIONS', '/api/v1/presence/status', { headers: { origin } })
    expectProblem(preflight, 'forbidden')
  })

  test.each(FOREIGN)('[C6] in dev mode no WebSocket opens from %s', async (origin) => {
    const answer = await call(dev.url, 'GET', '/api/v1/ws?token=dev:alice', {
      headers: {
        origin,
        upgrade: 'websocket',
        connection: 'Upgrade',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    })
    expectProblem(answer, 'forbidden')
  })

  test('elsewhere any page may ask, because without a token it gets nothing', async () => {
    const headers = { origin: 'https://app.example' }
    const answer = await call(secured.url, 'GET', '/api/v1/presence/a', {
      token: userToken('alice'),
      headers,
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
    const refused = await call(secured.url, 'GET', '/api/v1/presence/a', { headers })
    expectProblem(refused, 'unauthorized')
    expect(answer.headers.get('access-control-expose-headers')).toBe('etag, greendot-degraded, retry-after')
    // The page must be able to read why.
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example')
  })

  test('a preflight names methods and headers and asks for no token', async () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization, content-type',
    }
    const { status, headers: said } = await call(secured.url, 'OPTIONS', '/api/v1/presence/status', {
      headers,
    })
    expect(status).toBe(204)
    expect(said.get('access-control-allow-origin')).toBe('https://app.example')
    expect(said.get('access-control-allow-methods')).toContain('PUT')
    expect(said.get('access-control-allow-headers')).toBe(
      'authorization, content-type, if-none-match, last-event-id',
    )
    expect(Number(said.get('access-control-max-age'))).toBeGreaterThan(0)
  })

  test('without an origin nothing is said about origins', async () => {
    const { headers } = await call(dev.url, 'GET', '/healthz')
    expect(headers.has('access-control-allow-origin')).toBe(false)
  })
})
