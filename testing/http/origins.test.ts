// Pages of other origins against a server with allowed_origins: requests, preflights, WebSockets and streams.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startServer, type TestServer } from '../clients/server.ts'
import { call, expectProblem } from './calls.ts'
import { securedSettings, userToken } from './tokens.ts'

const APP = 'https://app.example'
const UPGRADE = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}
const FOREIGN = [
  'https://evil.example',
  'http://app.example',
  'https://app.example:8443',
  'https://app.example.evil.example',
  'https://evil.example#https://app.example',
  'null',
  'app.example',
  'capacitor://other',
]

let server: TestServer
let host: string
beforeAll(async () => {
  const allowed = `${APP},capacitor://localhost,http://localhost:5173`
  server = await startServer({ ...securedSettings, allowed_origins: allowed })
  host = new URL(server.url).host
})
afterAll(() => server.stop())

const token = userToken('alice')
const read = (headers: Record<string, string>) =>
  call(server.url, 'GET', '/api/v1/presence/bob', { token, headers })

/** The status of an upgrade, and what an open socket said first. */
async function upgrade(headers: Record<string, string>) {
  const url = `${server.url}/api/v1/ws?token=${token}`
  const answer = await fetch(url, { headers: { ...UPGRADE, ...headers } })
  const type = answer.headers.get('content-type')
  const body = type === 'application/problem+json' ? await answer.json() : null
  return { status: answer.status, headers: answer.headers, body }
}

/** A socket as a browser opens it, with an Origin of its own. */
function firstFrame(origin: string): Promise<string> {
  const url = `${server.url.replace('http', 'ws')}/api/v1/ws?token=${token}`
  const socket = new WebSocket(url, { headers: { origin } } as never)
  return new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      resolve(JSON.parse(String(data)).type)
      socket.close()
    }
    socket.onerror = () => resolve('refused')
  })
}

async function stream(origin: string) {
  const headers = { origin, authorization: `Bearer ${token}` }
  const answer = await fetch(`${server.url}/api/v1/stream?user_ids=bob`, { headers })
  if (answer.status !== 200)
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  await answer.body?.cancel()
  return { status: 200, headers: answer.headers, body: null }
}

describe('origins that are allowed', () => {
  test.each([APP, 'capacitor://localhost', 'http://localhost:5173'])('[C6] %s may call', async (origin) => {
    const { status, headers } = await read({ origin })
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, origin])
    expect(headers.get('vary')).toBe('origin')
    expect(headers.has('access-control-allow-credentials')).toBe(false)
    const preflight = await call(server.url, 'OPTIONS', '/api/v1/presence/status', { headers: { origin } })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin])
    expect(preflight.headers.get('vary')).toBe('origin')
  })

  test('[C6] may open sockets and streams', async () => {
    expect(await firstFrame(APP)).toBe('welcome')
    const { status, headers } = await stream(APP)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, APP])
  })

  test('[C6] a refusal can be read by the page', async () => {
    const answer = await call(server.url, 'GET', '/api/v1/presence/bob', { headers: { origin: APP } })
    expectProblem(answer, 'unauthorized')
    expect(answer.headers.get('access-control-allow-origin')).toBe(APP)
  })
})

describe('origins that are not', () => {
  test.each(FOREIGN)('[C6] %s may not call, ask, connect or stream', async (origin) => {
    const preflight = await call(server.url, 'OPTIONS', '/api/v1/presence/status', { headers: { origin } })
    const answers = [await read({ origin }), preflight, await upgrade({ origin }), await stream(origin)]
    for (const answer of answers) {
      expectProblem(answer, 'forbidden')
      expect(answer.body).toMatchObject({ detail: expect.stringContaining('allowed_origins') })
      expect(answer.headers.get('vary')).toBe('origin')
      expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    }
    expect(await firstFrame(origin)).toBe('refused')
  })

  test('[R4] public presence is for the allowed origins too, and caches keep them apart', async () => {
    const path = '/api/v1/public/presence/bob'
    const ask = (headers = {}) => call(server.url, 'GET', path, { headers })
    expectProblem(await ask({ origin: 'https://evil.example' }), 'forbidden')
    const [own, none] = [await ask({ origin: APP }), await ask()]
    expect(own.headers.get('access-control-allow-origin')).toBe(APP)
    expect(none.headers.has('access-control-allow-origin')).toBe(false)
    expect([own.headers.get('vary'), none.headers.get('vary')]).toEqual(['origin', 'origin'])
  })
})

describe('requests of no origin, and of the own one', () => {
  test('[C6] a program without an Origin is not affected', async () => {
    const { status, headers } = await read({})
    expect(status).toBe(200)
    expect(headers.has('access-control-allow-origin')).toBe(false)
    // A cache must not give this answer to a page of another origin.
    expect(headers.get('vary')).toBe('origin')
  })

  const PUBLIC = 'presence.example'
  const own: [string, string, Record<string, string>][] = [
    ['without a proxy', `http://HOST`, {}],
    ['behind a proxy that keeps the Host', `https://${PUBLIC}`, { host: PUBLIC }],
    ['behind one that names the default port', `https://${PUBLIC}`, { host: `${PUBLIC}:443` }],
    ['behind one that tells the Host', `https://${PUBLIC}`, { 'x-forwarded-host': PUBLIC }],
    ['behind two of them', `https://${PUBLIC}`, { 'x-forwarded-host': `${PUBLIC}, inner.example` }],
    ['on a port of its own', `https://${PUBLIC}:8443`, { 'x-forwarded-host': `${PUBLIC}:8443` }],
    [
      'with the scheme',
      `https://${PUBLIC}`,
      { 'x-forwarded-host': PUBLIC, 'x-forwarded-proto': 'https, http' },
    ],
  ]
  test.each(own)('[C6] the own origin may always call: %s', async (_, origin, headers) => {
    const sent = { ...headers, origin: origin.replace('HOST', host) }
    expect((await read(sent)).status).toBe(200)
    expect((await upgrade(sent)).status).not.toBe(403)
  })

  const notOwn: [string, string, Record<string, string>][] = [
    ['another port', `http://127.0.0.1:1`, {}],
    ['another name', 'https://evil.example', { host: PUBLIC, 'x-forwarded-host': PUBLIC }],
    ['http where the proxy speaks https', `http://${PUBLIC}`, { host: PUBLIC, 'x-forwarded-proto': 'https' }],
    ['a proxy behind the proxy', 'https://inner.example', { 'x-forwarded-host': `${PUBLIC}, inner.example` }],
    ['a Host that is none', 'https://evil.example', { 'x-forwarded-host': ':::/' }],
  ]
  test.each(notOwn)('[C6] not the own origin: %s', async (_, origin, headers) => {
    expectProblem(await read({ ...headers, origin }), 'forbidden')
  })
})

test('[C6] in dev mode a page of this machine still has to be in the list', async () => {
  const dev = await startServer({ allowed_origins: 'http://localhost:5173' })
  const ask = (origin: string) =>
    call(dev.url, 'GET', '/api/v1/presence/a', { token: 'dev', headers: { origin } })
  expect((await ask('http://localhost:5173')).status).toBe(200)
  expectProblem(await ask('http://localhost:5174'), 'forbidden')
  expect((await ask(dev.url)).status).toBe(200)
  await dev.stop()
})
