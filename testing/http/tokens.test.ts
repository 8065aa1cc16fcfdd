// Signed tokens against a server that is not in development mode, over HTTP and over WebSocket.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ErrorCode } from '@greendot/protocol'
import { connect, openClient } from '../clients/client.ts'
import { createPatientClock } from '../clients/patient-clock.ts'
import { startServer, type TestServer } from '../clients/server.ts'
import { freePort } from '../services/ports.ts'
import { call, expectProblem } from './calls.ts'
import { SECRET, SERVER_KEY, secondsFromNow, securedSettings, sign, unsigned, userToken } from './tokens.ts'

const BAD_TOKEN = 4401

let server: TestServer
beforeAll(async () => {
  server = await startServer(securedSettings)
})
afterAll(() => server.stop())

const read = (token: string) => call(server.url, 'GET', '/api/v1/presence/alice', { token })
const hour = () => secondsFromNow(3600)

/** One for each way to be refused; http/auth.test.ts has all of them. */
const refused: [string, () => string, ErrorCode][] = [
  ['garbage', () => 'garbage', 'unauthorized'],
  ['one that expired', () => sign({ sub: 'alice', exp: secondsFromNow(-10) }), 'token_expired'],
  ['one of another key', () => sign({ sub: 'alice', exp: hour() }, { secret: `${SECRET}!` }), 'unauthorized'],
  ['alg none', () => unsigned({ sub: 'alice', exp: hour() }), 'unauthorized'],
  ['a subject that is no id', () => sign({ sub: 'a b', exp: hour() }), 'unauthorized'],
  ['the token of dev mode', () => 'dev:alice', 'unauthorized'],
]

describe('signed tokens', () => {
  test('[C6] a good one is its user', async () => {
    expect((await read(userToken('alice'))).status).toBe(200)
    const client = await connect(server.url, '', { token: userToken('alice') })
    expect(client.welcome.user_id).toBe('alice')
    client.close()
  })

  test.each(refused)('[C6] %s is refused over HTTP', async (_, token, code) => {
    expectProblem(await read(token()), code)
  })

  test.each(refused)('[C6] %s is refused over WebSocket: first why, then 4401', async (_, token, code) => {
    const client = openClient(server.url, '', { token: token() })
    expect((await client.next('error')).code).toBe(code)
    expect(await client.closed).toMatchObject({ code: BAD_TOKEN, reason: code })
    expect(client.heard).toHaveLength(1)
  })

  test('[C6] no token, and a server key, open no WebSocket', async () => {
    for (const [token, code] of [['', 'unauthorized'] as const, [SERVER_KEY, 'forbidden'] as const]) {
      const client = openClient(server.url, '', { token })
      expect((await client.next('error')).code).toBe(code)
      expect((await client.closed).code).toBe(BAD_TOKEN)
    }
  })

  test('[C6] a WebSocket may carry its token in the header', async () => {
    const headers = { authorization: `Bearer ${userToken('alice')}` }
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, { headers } as never)
    const first = await new Promise<MessageEvent>((resolve) => {
      socket.onmessage = resolve
    })
    expect(JSON.parse(String(first.data))).toMatchObject({ type: 'welcome', user_id: 'alice' })
    socket.close()
  })

  test('[C6] a refused WebSocket was never here', async () => {
    const client = openClient(server.url, '', { token: sign({ sub: 'never', exp: 1 }) })
    await client.closed
    const { body } = await call<{ version: number }>(server.url, 'GET', '/api/v1/presence/never', {
      token: SERVER_KEY,
    })
    expect(body).toMatchObject({ status: 'offline', version: 0, source: 'db' })
  })

  test('[C6] a connection ends with its token: why, then 4401, and the grace of a closed socket', async () => {
    const patient = await startServer(securedSettings, { clock: createPatientClock() })
    const expiresAt = secondsFromNow(2)
    const client = await connect(patient.url, '', { token: sign({ sub: 'brief', exp: expiresAt }) })
    const other = await connect(patient.url, '', { token: userToken('brief') })
    expect((await client.next('error')).code).toBe('token_expired')
    const { code, at } = await client.closed
    expect(code).toBe(BAD_TOKEN)
    // Never before its time.
    expect(at).toBeGreaterThanOrEqual(expiresAt * 1000)
    other.send({ type: 'heartbeat', activity: 'active', ref: 1 })
    await other.next('ok')
    other.close()
    await patient.stop()
  })

  test('[C6] in dev mode an id that is none is refused with why', async () => {
    const dev = await startServer()
    for (const token of ['dev:', 'dev:a b', 'dev:a,b', `dev:${'x'.repeat(129)}`]) {
      const client = openClient(dev.url, '', { token })
      expect((await client.next('error')).code).toBe('unauthorized')
      expect((await client.closed).code).toBe(BAD_TOKEN)
    }
    await dev.stop()
  })
})

describe('a key set that cannot be reached', () => {
  test('[C7] is no fault of the token: 503, and a close that invites to come again', async () => {
    // Nothing listens there.
    const jwksUrl = `http://127.0.0.1:${await freePort()}/keys`
    const keyed = await startServer({ dev: false, jwks_url: jwksUrl })
    const token = sign({ sub: 'alice', exp: hour() }, { header: { alg: 'RS256', kid: 'k' } })
    expectProblem(await call(keyed.url, 'GET', '/api/v1/presence/alice', { token }), 'unavailable')
    const client = openClient(keyed.url, '', { token })
    expect((await client.next('error')).code).toBe('unavailable')
    expect((await client.closed).code).toBe(1001)
    await keyed.stop()
  })
})
