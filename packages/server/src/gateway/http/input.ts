// From a request to what its route declared: parameters of the path, of the query, and the body, each
// parsed or the whole refused. The schemas are put together once, not for every request.
import { z } from 'zod'
import { type Parsed, parse } from '../schemas.ts'
import { readBody } from './body.ts'
import { queryOf } from './request-url.ts'
import type { Call, Route, Shape, Who } from './route.ts'

type Request = Call<Who, Shape, Shape, z.ZodType>['request']
export type Input = Pick<Call<Who, Shape, Shape, z.ZodType>, 'params' | 'query' | 'body'>

export function createInputReader(route: Route): (request: Request) => Promise<Parsed<Input>> {
  const params = route.params === undefined ? null : z.object(route.params)
  const query = route.query === undefined ? null : z.object(route.query)

  return async (request) => {
    const fromPath = params === null ? NOTHING : parse(params, request.params)
    if (!fromPath.ok) return fromPath
    const fromQuery = query === null ? NOTHING : parse(query, valuesOf(query, queryOf(request)))
    if (!fromQuery.ok) return fromQuery
    const body = route.body === undefined ? NOTHING : await readBody(request, route.body)
    if (!body.ok) return body
    return { ok: true, value: { params: fromPath.value, query: fromQuery.value, body: body.value } }
  }
}

const NOTHING = { ok: true, value: {} } as const

/** Only what is declared, and of a parameter that is sent twice the first. */
function valuesOf(query: z.ZodObject, sent: URLSearchParams): Record<string, string | undefined> {
  return Object.fromEntries(Object.keys(query.shape).map((name) => [name, sent.get(name) ?? undefined]))
}
