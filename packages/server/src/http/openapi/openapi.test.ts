// The document as a function of declarations, on routes made up for it. That the document of the real
// server tells the truth is tested against a running one, in testing/http.
import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { queriedIdsInUrl, queryBody, userId, viewerId } from '../../input/schemas.ts'
import { json, nothing, type Route, type Routes, route, text } from '../route.ts'
import { openapi } from './openapi.ts'

const run = () => new Response()
const PATTERN_OF_IDS = expect.stringContaining('{1,128}')
const done = { 204: nothing('Done') }
const get = (path: string, one: Route): Routes => ({ [path]: { GET: one } })

interface Response {
  $ref?: string
  description?: string
  content?: Record<string, { schema: { properties?: { code: { enum: string[] } } } }>
}
interface Operation {
  operationId: string
  security: object[]
  parameters?: { name: string; in: string; required: boolean; schema: object; explode?: boolean }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, Response>
}

const describeRoutes = (routes: Routes) => openapi(routes, '1.2.3', async () => {})

async function operationOf(routes: Routes): Promise<Operation> {
  const { paths } = (await describeRoutes(routes)) as { paths: Record<string, Record<string, Operation>> }
  return Object.values(Object.values(paths)[0]!)[0]!
}

/** The codes that a route says with a status, written out or by reference. */
async function codesOf(routes: Routes, status: string): Promise<string[] | undefined> {
  const { components } = (await describeRoutes(routes)) as {
    components: { responses: Record<string, Response> }
  }
  const response = (await operationOf(routes)).responses[status]
  const named = response?.$ref?.split('/').at(-1)
  const { content } = (named === undefined ? response : components.responses[named]) ?? {}
  return content?.['application/problem+json']?.schema.properties?.code.enum
}

describe('openapi()', () => {
  test('[X8] changes nothing that it is given, and says the same twice', async () => {
    const routes = get('/a', route({ for: 'caller', summary: 'A', body: queryBody, answers: done, run }))
    const before = JSON.stringify(await describeRoutes(routes))
    expect(JSON.stringify(await describeRoutes(routes))).toBe(before)
    expect(JSON.parse(before)).toMatchObject({ openapi: '3.1.1', info: { version: '1.2.3' } })
  })

  const names: [string, string][] = [
    ['/api/v1/presence/:user_id', 'getPresenceByUserId'],
    ['/presence/batch', 'getPresenceBatch'],
    ['/openapi.json', 'getOpenapiJson'],
  ]
  test.each(names)('[X8] GET %s is called %s', async (path, name) => {
    const params = path.includes(':') ? { params: { user_id: userId } } : {}
    const one = route({ for: 'anyone', summary: 'A', ...params, answers: done, run })
    expect((await operationOf(get(path, one))).operationId).toBe(name)
  })

  const contradictions: [string, string, Record<string, z.ZodType>][] = [
    ['a parameter without a schema', '/a/:user_id', {}],
    ['a schema without a parameter', '/a', { user_id: userId }],
    ['two names for one parameter', '/a/:user_id', { id: userId }],
  ]
  test.each(contradictions)('[X8] %s fails', async (_, path, params) => {
    const one = route({ for: 'anyone', summary: 'A', params, answers: done, run })
    await expect(describeRoutes(get(path, one))).rejects.toThrow(`GET ${path} declares the parameters`)
  })

  test('[X8] a list in a URL has its limit and its commas, and what is required comes first', async () => {
    const query = { viewer_id: viewerId, user_ids: queriedIdsInUrl }
    const one = route({ for: 'caller', summary: 'A', query, answers: done, run })
    expect((await operationOf(get('/a', one))).parameters).toMatchObject([
      {
        name: 'user_ids',
        required: true,
        explode: false,
        schema: { type: 'array', maxItems: 1000, items: { type: 'string', pattern: PATTERN_OF_IDS } },
      },
      { name: 'viewer_id', required: false, schema: { type: 'string', maxLength: 128 } },
    ])
  })

  test('[X8] a body has no other fields than declared, an answer may get some', async () => {
    const shape = z.object({ inner: z.array(z.object({ name: z.string() })).optional() })
    const one = route({ for: 'server', summary: 'A', body: shape, answers: { 200: json(shape, 'All') }, run })
    const { requestBody, responses } = await operationOf({ '/a': { PUT: one } })
    expect(requestBody?.content['application/json']?.schema).toMatchObject({
      additionalProperties: false,
      properties: { inner: { items: { additionalProperties: false } } },
    })
    expect(JSON.stringify(responses['200'])).not.toContain('additionalProperties')
  })

  test('[X8] what carries an id is written once, and referred to', async () => {
    const person = z.object({ name: z.string() }).meta({ id: 'Person' })
    const one = route({
      for: 'anyone',
      summary: 'A',
      answers: { 200: json(z.array(person), 'All'), 203: json(person, 'One') },
      run,
    })
    const { components } = (await describeRoutes(get('/a', one))) as { components: { schemas: object } }
    expect(Object.keys(components.schemas)).toEqual(['Problem', 'Person'])
    expect((await operationOf(get('/a', one))).responses).toMatchObject({
      200: {
        content: { 'application/json': { schema: { items: { $ref: '#/components/schemas/Person' } } } },
      },
      203: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Person' } } } },
    })
  })

  const audiences: [Route['for'], string[], number][] = [
    ['anyone', ['204', '400', '403', '431', '500'], 0],
    ['user', ['204', '400', '401', '403', '431', '500', '503'], 1],
    ['server', ['204', '400', '401', '403', '431', '500', '503'], 1],
    ['caller', ['204', '400', '401', '403', '431', '500', '503'], 2],
  ]
  test.each(audiences)(
    '[C6] [X8] a route for %s says what the guard says for it',
    async (who, statuses, schemes) => {
      const routes = get('/a', route({ for: who, summary: 'A', answers: done, run }))
      expect(Object.keys((await operationOf(routes)).responses)).toEqual(statuses)
      expect((await operationOf(routes)).security).toHaveLength(schemes)
    },
  )

  test('[X8] the codes of a route are those it declares and those of the guard, by status', async () => {
    const routes = get(
      '/a',
      route({
        for: 'user',
        summary: 'A',
        body: queryBody,
        limit: 'read',
        answers: done,
        refusals: ['too_many_ids', 'invalid_id', 'not_found', 'overloaded'],
        run,
      }),
    )
    expect(await codesOf(routes, '400')).toEqual(['bad_request', 'invalid_id', 'too_many_ids'])
    expect(await codesOf(routes, '401')).toEqual(['unauthorized', 'token_expired'])
    expect(await codesOf(routes, '404')).toEqual(['not_found'])
    expect(await codesOf(routes, '413')).toEqual(['too_large'])
    expect(await codesOf(routes, '429')).toEqual(['rate_limited'])
    expect(await codesOf(routes, '503')).toEqual(['overloaded', 'unavailable'])
  })

  test('[X8] a status that is both an answer and a refusal has both bodies', async () => {
    const answers = { 503: text('text/plain', 'Not now') }
    const routes = get('/a', route({ for: 'user', summary: 'A', answers, run }))
    const types = Object.keys((await operationOf(routes)).responses['503']?.content ?? {})
    expect(types).toEqual(['text/plain', 'application/problem+json'])
  })
})
