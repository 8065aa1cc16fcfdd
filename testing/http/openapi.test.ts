// The OpenAPI document against the server it describes. Every operation of the document is called with valid
// and with invalid input, so a route that is added later is tested too. A failure names its seed; run with
// FUZZ_SEED=<seed> to replay it.
import { afterAll, describe, expect, test } from 'bun:test'
import { BODY_BYTES_MAX } from '@greendot/protocol'
import { chunksOf } from '../../packages/server/src/platform/chunks.ts'
import { startServer } from '../clients/server.ts'
import { createNoise, fuzzSeed } from '../hostile/noise.ts'
import { type Operation, operationsOf, type Parameter, parseDocument } from './openapi-document.ts'
import { createDriver, type Request } from './openapi-driver.ts'
import type { JsonSchema } from './openapi-schemas.ts'
import { fitting, many, oddTexts, wrongs } from './openapi-values.ts'
import { registeredRoutes } from './registered-routes.ts'
import { SERVER_KEY, secondsFromNow, securedSettings, sign, unsigned, userToken } from './tokens.ts'

const FITTING_CALLS = 20
const AT_ONCE = 20

// Started here, because the document defines the tests. Few sessions per user, so that this limit is reached
// too.
const server = await startServer({ ...securedSettings, sessions_per_user: 4 })
afterAll(() => server.stop())
const fetched = await fetch(`${server.url}/openapi.json`)
const text = await fetched.text()
const document = await parseDocument(text)
const operations = operationsOf(document)
const { checker, drive } = createDriver(server.url, document)
const seed = fuzzSeed()

const named = (list: Operation[]) => list.map((operation) => [operation.name, operation] as const)
const withBody = operations.filter(({ body }) => body !== null)

/** A token of a permitted caller; of a user where both are permitted, but users read no history of others. */
function tokenFor({ who, path }: Operation, userId: string): string | null {
  if (path.endsWith('/history')) return SERVER_KEY
  return who === 'anyone' ? null : who === 'server' ? SERVER_KEY : userToken(userId)
}

/** A valid call with required input only. */
function usual(operation: Operation, userId: string, noise = createNoise(seed)): Request {
  const required = operation.parameters.filter((parameter) => parameter.required)
  const params = required.map(({ name, schema }) => [name, fitting(schema, checker, noise)])
  return {
    token: tokenFor(operation, userId),
    params: Object.fromEntries(params),
    ...(operation.body === null ? {} : { body: exampleOf(operation.body) }),
  }
}

/** Every body has an example. */
function exampleOf(schema: JsonSchema): unknown {
  const [example] = (checker.resolve(schema).examples as unknown[] | undefined) ?? []
  if (example === undefined) throw new Error(`no example in ${JSON.stringify(schema)}`)
  return example
}

async function driveAll(
  operation: Operation,
  requests: Iterable<Request>,
  check = (_: Request, __: number, ___: unknown) => {},
) {
  try {
    for (const batch of chunksOf([...requests], AT_ONCE)) {
      const answers = await Promise.all(batch.map((request) => drive(operation, request)))
      for (const [index, { status, body }] of answers.entries()) check(batch[index]!, status, body)
    }
  } catch (error) {
    throw new Error(`with FUZZ_SEED=${seed}`, { cause: error })
  }
}

describe('the document', () => {
  test('[X8] is OpenAPI 3.1, cacheable, and the same every time', async () => {
    expect(fetched.headers.get('content-type')).toStartWith('application/json')
    expect(fetched.headers.get('cache-control')).toBe('public, max-age=60')
    expect(await (await fetch(`${server.url}/openapi.json`)).text()).toBe(text)
  })

  test('[X8] has every route of the server with its callers, and no other', async () => {
    const described = operations.map(({ method, path, who }) => `${method} ${path} for ${who}`)
    const registered = (await registeredRoutes()).map(
      ({ method, path, who }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')} for ${who}`,
    )
    expect(described.sort()).toEqual(registered.sort())
  })

  test('[X8] describes every operation and answer in the same way', () => {
    expect(document.info).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      summary: expect.any(String),
      description: expect.any(String),
      license: { name: 'MIT', identifier: 'MIT' },
    })
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z0-9]+$/)
      expect(operation.summary).toMatch(/^.+[^.]$/)
      expect(operation.tags).toHaveLength(1)
    }
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[A-Z][A-Za-z]+$/)
    for (const { description } of operations.flatMap(({ responses }) => [...responses.values()]))
      expect(description).not.toBe('')
  })

  test('[X8] has unique names, and no unused components', () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
    const tags = document.tags.map(({ name }) => name)
    const used = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap((operation) => operation.tags),
    )
    expect(used.filter((tag) => !tags.includes(tag))).toEqual([])
    const { securitySchemes, schemas, responses } = document.components
    const needed = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ security }) => security.flatMap((scheme) => Object.keys(scheme))),
    )
    expect(Object.keys(securitySchemes).sort()).toEqual([...new Set(needed)].sort())
    const referred = new Set(Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, ref]) => ref!))
    const existing = [
      ...Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
      ...Object.keys(responses).map((name) => `#/components/responses/${name}`),
    ]
    expect([...referred].sort()).toEqual(existing.sort())
  })

  test('[X8] declares the parameters that its paths have', () => {
    for (const { path, parameters } of operations) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!)
      expect(inPath.map(({ name }) => name)).toEqual(names)
      expect(inPath.every(({ required }) => required)).toBe(true)
      const isList = ({ schema, style, explode }: Parameter) =>
        schema.type === 'array' ? style === 'form' && explode === false : style === undefined
      expect(parameters.filter((parameter) => !isList(parameter))).toEqual([])
    }
  })

  test('[X8] has only examples and defaults that are valid for their schemas', () => {
    let checked = 0
    for (const schema of schemasIn(JSON.parse(text))) {
      const { examples = [], default: usually, ...rest } = schema
      for (const example of [...(examples as unknown[]), ...('default' in schema ? [usually] : [])]) {
        expect({ example, problems: checker.problems(rest, example) }).toEqual({ example, problems: [] })
        checked++
      }
    }
    expect(checked).toBeGreaterThan(10)
  })
})

/** An object with examples or a default is a schema. */
function* schemasIn(value: unknown): Generator<JsonSchema> {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray((value as JsonSchema).examples) || 'default' in value) yield value as JsonSchema
  for (const inside of Object.values(value)) yield* schemasIn(inside)
}

describe(`every operation, with FUZZ_SEED=${seed}`, () => {
  test.each(named(operations))('[X8] %s answers a valid request as documented', async (_, operation) => {
    const answer = await drive(operation, usual(operation, 'usual'))
    // A valid request for something that does not exist gets 404.
    if (answer.status !== 404) expect(answer.status).toBeLessThan(300)
    if (operation.method !== 'GET') return
    const head = await drive(operation, { ...usual(operation, 'usual'), method: 'HEAD' })
    expect([head.status, head.text]).toEqual([answer.status, ''])
  })

  test.each(named(operations))('[X8] %s with random valid input', async (_, operation) => {
    const noise = createNoise(seed)
    const requests = Array.from({ length: FITTING_CALLS }, (): Request => {
      const params = operation.parameters
        .filter(({ required }) => required || noise.chance(0.5))
        .map(({ name, schema }) => [name, fitting(schema, checker, noise)])
      const body = operation.body === null ? undefined : fitting(operation.body, checker, noise)
      expect(operation.body === null ? [] : checker.problems(operation.body, body)).toEqual([])
      const tokens = [tokenFor(operation, 'fitting'), ...(operation.who === 'caller' ? [SERVER_KEY] : [])]
      return { token: noise.pick(tokens), params: Object.fromEntries(params), body }
    })
    await driveAll(operation, requests)
  })

  test.each(named(withBody))('[X8] %s refuses bodies that are wrong in any place', async (_, operation) => {
    const schema = operation.body!
    const request = usual(operation, 'mallory')
    const bodies = [...wrongs(exampleOf(schema), createNoise(seed))]
    expect(bodies.length).toBeGreaterThan(80)
    const requests = bodies.map((body) => ({ ...request, body }))
    await driveAll(operation, requests, ({ body }, status, answer) => {
      // Input that the document does not allow is refused; allowed input may be refused for other reasons.
      if (checker.problems(schema, JSON.parse(JSON.stringify(body))).length === 0) return
      // An entry of a batch is refused alone.
      const { rejected = [] } = (answer ?? {}) as { rejected?: unknown[] }
      if (rejected.length === 0) expect({ body, status }).toMatchObject({ status: 400 })
    })
  })

  test.each(named(withBody))(
    '[X8] %s refuses bodies that are not JSON, too large or too deep',
    async (_, operation) => {
      const request = { ...usual(operation, 'mallory'), body: undefined }
      const good = JSON.stringify(exampleOf(operation.body!))
      const refused: [BodyInit, number][] = [
        ['', 400],
        [good.slice(0, -1), 400],
        [`${good}x`, 400],
        ['user_ids=a', 400],
        ['<a/>', 400],
        [new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 400],
        [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 400],
        [`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, 400],
        [good.padEnd(BODY_BYTES_MAX + 1), 413],
      ]
      for (const [rawBody, status] of refused)
        expect((await drive(operation, { ...request, rawBody })).status).toBe(status)
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
        const answer = await drive(operation, {
          ...request,
          rawBody: good,
          headers: { 'content-type': type },
        })
        if (answer.status !== 404) expect([type, answer.status < 300]).toEqual([type, true])
      }
    },
  )

  const withParameters = operations.filter(({ parameters }) => parameters.length > 0)
  test.each(named(withParameters))('[X8] %s refuses wrong parameters', async (_, operation) => {
    const request = {
      ...usual(operation, 'mallory'),
      ...(operation.who === 'user' ? {} : { token: SERVER_KEY }),
    }
    const requests = operation.parameters.flatMap(({ name, in: place, schema, required }) => {
      const texts = oddTexts.map((odd) => odd.toWellFormed()).filter((odd) => place === 'query' || odd !== '')
      const lists = [...texts.map((odd) => ['a', odd]), many(1_000), many(1_001)]
      const values: unknown[] = schema.type === 'array' ? lists : texts
      const missing = place === 'query' ? [undefined] : []
      return [...missing, ...values].map((value) => ({
        ...request,
        params: { ...request.params, [name]: value },
        isWrong: value === undefined ? required : checker.problems(schema, sentAs(value)).length > 0,
      }))
    })
    await driveAll(operation, requests, (sent, status) => {
      const { isWrong, params } = sent as (typeof requests)[number]
      // The parser refuses a URL that is too long.
      if (isWrong)
        expect({ params, isRefused: [400, 431].includes(status) }).toMatchObject({ isRefused: true })
    })
  })

  const forged = {
    garbage: 'garbage',
    'a key that is almost right': `${SERVER_KEY}x`,
    'a token of dev mode': 'dev:alice',
    'the key of dev mode': 'dev',
    'an unsigned token': unsigned({ sub: 'alice', exp: secondsFromNow(3600) }),
    'a token signed by another': sign(
      { sub: 'alice', exp: secondsFromNow(3600) },
      { secret: 'x'.repeat(40) },
    ),
    'a token that ended': sign({ sub: 'alice', exp: secondsFromNow(-3600) }),
    'a token without an end': sign({ sub: 'alice' }),
    'a token without a user': sign({ exp: secondsFromNow(3600) }),
    'a token longer than tokens are': 'x'.repeat(9_000),
  }
  const closed = operations.filter(({ who }) => who !== 'anyone')
  test.each(named(closed))('[C6] [X8] %s refuses callers it is not for', async (_, operation) => {
    const request = usual(operation, 'usual')
    for (const token of [null, ...Object.values(forged)]) {
      const answer = await drive(operation, { ...request, token })
      expect([token, answer.status]).toEqual([token, 401])
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
    const inUrl = await drive(operation, { ...request, token: null, query: { token: request.token } })
    expect(inUrl.status === 401).toBe(!operation.takesTokenInUrl)
    if (operation.who === 'caller') return
    const others = operation.who === 'user' ? SERVER_KEY : userToken('usual')
    expect((await drive(operation, { ...request, token: others })).status).toBe(403)
  })

  test.each(named(operations))('[X8] %s has no undocumented methods on its path', async (_, operation) => {
    const { params = {}, token } = usual(operation, 'usual')
    const path = operation.path.replace(/\{(\w+)\}/g, (__, name: string) =>
      encodeURIComponent(String(params[name])),
    )
    for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'PATCH']) {
      if (operation.allowed.includes(method)) continue
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(server.url + path, { method, headers })
      expect([method, answer.status]).toEqual([method, 405])
      expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(operation.allowed.toSorted())
      expect(await answer.json()).toMatchObject({ code: 'method_not_allowed' })
    }
  })
})

/** How a parameter arrives: lists are split at every comma. */
function sentAs(value: unknown): unknown {
  return Array.isArray(value) ? value.join(',').split(',') : value
}
