// Fields and parameters that a route does not have: on every route of the document, so that a route that is added
// later is tested too. A misspelt name is refused with the nearest one, and changes nothing.
import { afterAll, describe, expect, test } from 'bun:test'
import type { Settings } from '@greendot/protocol'
import { openClient } from '../clients/client.ts'
import { startServer } from '../clients/server.ts'
import { createNoise } from '../hostile/noise.ts'
import { call, expectProblem } from './calls.ts'
import { type Operation, operationsOf, parseDocument } from './openapi-document.ts'
import { createDriver, type Request } from './openapi-driver.ts'
import type { JsonSchema } from './openapi-schemas.ts'
import { fitting } from './openapi-values.ts'
import { SERVER_KEY, securedSettings, userToken } from './tokens.ts'

const SEED = 1

// Started here, because the document defines the tests.
const server = await startServer(securedSettings)
afterAll(() => server.stop())
const document = await parseDocument(await (await fetch(`${server.url}/openapi.json`)).text())
const { checker, drive } = createDriver(server.url, document)
const operations = operationsOf(document)
const named = (list: Operation[]) => list.map((operation) => [operation.name, operation] as const)

/** A valid call with required input only. */
function usual({ who, parameters, body }: Operation): Request {
  const token = who === 'anyone' ? null : who === 'user' ? userToken('alice') : SERVER_KEY
  const required = parameters.filter((parameter) => parameter.required)
  const noise = createNoise(SEED)
  return {
    token,
    params: Object.fromEntries(
      required.map(({ name, schema }) => [name, fitting(schema, checker, noise)] as const),
    ),
    ...(body === null ? {} : { body: exampleOf(body) }),
  }
}

function exampleOf(schema: JsonSchema): Record<string, unknown> {
  const [example] = checker.resolve(schema).examples as Record<string, unknown>[]
  return example!
}

/** Every field of the body, by name, down to those inside lists and objects. */
const fieldsOf = (schema: JsonSchema): string[] =>
  Object.keys((checker.resolve(schema).properties as object | undefined) ?? {})

/** Two letters changed places. */
const misspelt = (name: string): string => name.slice(0, -2) + name.at(-1)! + name.at(-2)!

async function refused(operation: Operation, request: Request): Promise<string> {
  const { status, body } = await drive(operation, request)
  expect([operation.name, status]).toEqual([operation.name, 400])
  expect(body).toMatchObject({ code: 'bad_request' })
  return (body as { detail: string }).detail
}

describe('parameters', () => {
  test.each(named(operations))('[X8] %s refuses one that it does not have', async (_, operation) => {
    const request = usual(operation)
    expect(await refused(operation, { ...request, query: { colour: 'green' } })).toContain('"colour"')
    expect(await refused(operation, { ...request, query: { '': '' } })).toContain('no parameter ""')
    expect(
      (await refused(operation, { ...request, query: { ['x'.repeat(20_000)]: 1 } })).length,
    ).toBeLessThan(300)
  })

  const own = operations.flatMap((operation) =>
    operation.parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name }) => [operation.name, name, operation] as const),
  )
  test.each(own)('[X8] %s names %s when it is misspelt', async (_, name, operation) => {
    const query = { [misspelt(name)]: 'alice' }
    const detail = await refused(operation, { ...usual(operation), query })
    expect(detail).toBe(`this route has no parameter "${misspelt(name)}"; did you mean ${name}?`)
  })

  const headerOnly = operations.filter(({ who, takesTokenInUrl }) => who !== 'anyone' && !takesTokenInUrl)
  test.each(named(headerOnly))('[C6] %s takes no token and no key in the URL', async (_, operation) => {
    const { token, ...request } = usual(operation)
    const inUrl = await drive(operation, { ...request, query: { token } })
    expect(inUrl.status).toBe(401)
    const beside = await refused(operation, { ...request, token: token!, query: { token } })
    expect(beside).toContain('Authorization header')
    expect(beside).not.toContain(token!)
  })

  test('[C6] the feed for operators takes its key in the header only', async () => {
    expectProblem(await call(server.url, 'GET', `/api/v1/feed?token=${SERVER_KEY}`), 'unauthorized')
    const headers = { authorization: `Bearer ${SERVER_KEY}` }
    const answer = await fetch(`${server.url}/api/v1/feed`, { headers })
    expect(answer.status).toBe(200)
    await answer.body?.cancel()
  })

  test('[W1] a WebSocket with a misspelt parameter is refused, and never was here', async () => {
    const token = userToken('misspelt')
    const client = openClient(server.url, '', { token, query: '&platfrom=web' })
    const { code, message } = await client.next('error')
    expect([code, message]).toEqual([
      'bad_request',
      'this route has no parameter "platfrom"; did you mean platform?',
    ])
    await client.closed
    const { body } = await call(server.url, 'GET', '/api/v1/presence/misspelt', { token: SERVER_KEY })
    expect(body).toMatchObject({ version: 0 })
  })
})

describe('fields', () => {
  const withBody = operations.filter(({ body }) => body !== null)
  test.each(named(withBody))('[X8] %s refuses one that it does not have', async (_, operation) => {
    const request = usual(operation)
    const good = request.body as Record<string, unknown>
    for (const name of ['colour', '', '__proto__', 'constructor', 'toString'])
      expect(await refused(operation, { ...request, body: withField(good, name) })).toContain(`"${name}"`)
    const long = withField(good, 'x'.repeat(900_000))
    expect((await refused(operation, { ...request, body: long })).length).toBeLessThan(300)
  })

  const own = withBody.flatMap((operation) =>
    fieldsOf(operation.body!).map((name) => [operation.name, name, operation] as const),
  )
  test.each(own)('[X8] %s names %s when it is misspelt', async (_, name, operation) => {
    const request = usual(operation)
    const { [name]: value = 'x', ...rest } = request.body as Record<string, unknown>
    const detail = await refused(operation, { ...request, body: { ...rest, [misspelt(name)]: value } })
    expect(detail).toBe(`this route has no field "${misspelt(name)}"; did you mean ${name}?`)
  })

  const withoutBody = operations.filter(({ body }) => body === null)
  test.each(named(withoutBody))('[X8] %s takes no body', async (_, operation) => {
    // Clients of the standard send no body with GET; requests by hand below do.
    if (operation.method === 'GET') return
    const request = usual(operation)
    const rawBody = '{"user_ids":["bob"]}'
    expect(await refused(operation, { ...request, rawBody })).toContain('takes no body')
    const { status } = await drive(operation, { ...request, rawBody: '{}' })
    // There may be nothing with the id of the example.
    if (status !== 404) expect(status).toBeLessThan(300)
  })

  test('[S6] a viewer in the body of a GET does not look as if it had worked', async () => {
    const { hostname, port } = new URL(server.url)
    const body = '{"viewer_id":"alice"}'
    const head = [
      'GET /api/v1/presence/bob HTTP/1.1',
      `host: ${hostname}`,
      `authorization: Bearer ${SERVER_KEY}`,
      `content-length: ${body.length}`,
      'connection: close',
    ]
    const answered = Promise.withResolvers<string>()
    let text = ''
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => void socket.write(`${head.join('\r\n')}\r\n\r\n${body}`),
        data(_, bytes) {
          text += bytes.toString()
        },
        close: () => answered.resolve(text),
        error: (_, error) => answered.reject(error),
      },
    })
    expect(await answered.promise).toStartWith('HTTP/1.1 400 ')
  })

  test('[S5] a misspelt privacy setting changes nothing, not even what is spelt right', async () => {
    const token = userToken('private')
    const path = '/api/v1/presence/settings'
    const body = { reciprocal: true, status_visibilty: 'nobody' }
    const answer = await call<{ detail: string }>(server.url, 'PUT', path, { token, body })
    expectProblem(answer, 'bad_request')
    expect(answer.body.detail).toContain('did you mean status_visibility?')
    const { body: settings } = await call<Settings>(server.url, 'GET', path, { token })
    expect([settings.reciprocal, settings.status_visibility]).toEqual([false, 'everyone'])
  })
})

/** Also for names that an object literal would not keep as a field. */
function withField(body: object, name: string): object {
  const copy = { ...body }
  Object.defineProperty(copy, name, { value: 1, enumerable: true })
  return copy
}

describe('viewer_id', () => {
  const QUERY = '/api/v1/presence/query'
  const ask = (path: string, viewerId?: unknown, token = SERVER_KEY) =>
    call<{ status: string }[]>(server.url, 'POST', path, {
      token,
      body: { user_ids: ['hidden'], ...(viewerId === undefined ? {} : { viewer_id: viewerId }) },
    })

  test('[S6] in the body is the same as in the URL', async () => {
    const token = userToken('hidden')
    const settings = { status_visibility: 'nobody', allow: ['friend'] }
    await call(server.url, 'PUT', '/api/v1/presence/settings', { token, body: settings })
    const heartbeat = { device_id: 'd', activity: 'active' }
    await call(server.url, 'POST', '/api/v1/heartbeat', { token, body: heartbeat })
    const statusFor = async (path: string, viewerId?: string) => (await ask(path, viewerId)).body[0]!.status
    expect(await statusFor(QUERY)).toBe('online')
    expect(await statusFor(QUERY, 'friend')).toBe('online')
    expect(await statusFor(QUERY, 'stranger')).toBe('offline')
    expect(await statusFor(`${QUERY}?viewer_id=stranger`)).toBe('offline')
    expect(await statusFor(`${QUERY}?viewer_id=stranger`, 'stranger')).toBe('offline')
  })

  test('[S6] two that differ, none and ids that are none are refused', async () => {
    expectProblem(await ask(`${QUERY}?viewer_id=friend`, 'stranger'), 'bad_request')
    for (const viewerId of [null, '', 'a b', 7, ['friend'], {}])
      expectProblem(await ask(QUERY, viewerId), 'invalid_id')
    expectProblem(await ask(QUERY, 'friend', userToken('stranger')), 'forbidden')
  })
})

test('[D8] a heartbeat over HTTP may call its activity activity_type', async () => {
  const token = userToken('typed')
  const beat = (body: object) =>
    call(server.url, 'POST', '/api/v1/heartbeat', { token, body: { device_id: 'd', ...body } })
  expect((await beat({ activity_type: 'idle' })).status).toBe(200)
  const { body } = await call(server.url, 'GET', '/api/v1/presence/typed', { token: SERVER_KEY })
  expect(body).toMatchObject({ status: 'away' })
  for (const wrong of [{}, { activity_type: 'asleep' }, { activity: 'asleep', activity_type: 'active' }])
    expectProblem(await beat(wrong), 'bad_request')
})
