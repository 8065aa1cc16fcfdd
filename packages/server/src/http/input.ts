// From a request to the input that its route declares: path parameters, query parameters and the body. If
// one part is invalid, the whole request is refused. Schemas are built once per route.
import { z } from 'zod'
import { isListInUrl, type Parsed, parse } from '../input/schemas.ts'
import { readBody } from './body.ts'
import { paramsOf, queryOf, valuesOf } from './request-url.ts'
import type { Call, Route, Shape, Who } from './route.ts'

type Request = Call<Who, Shape, Shape, z.ZodType>['request']
export type Input = Pick<Call<Who, Shape, Shape, z.ZodType>, 'params' | 'query' | 'body'>

export function createInputReader(route: Route): (request: Request) => Promise<Parsed<Input>> {
  const params = route.params === undefined ? null : z.object(route.params)
  const readQuery = route.query === undefined ? null : createQueryReader(route.query)

  return async (request) => {
    const fromPath = params === null ? NOTHING : parse(params, paramsOf(request))
    if (!fromPath.ok) return fromPath
    const fromQuery = readQuery === null ? NOTHING : readQuery(request)
    if (!fromQuery.ok) return fromQuery
    const body = route.body === undefined ? NOTHING : await readBody(request, route.body)
    if (!body.ok) return body
    return { ok: true, value: { params: fromPath.value, query: fromQuery.value, body: body.value } }
  }
}

const NOTHING = { ok: true, value: {} } as const

/** Reads declared parameters only. A list may be sent in several parts; any other parameter at most once. */
function createQueryReader(shape: Shape): (request: Request) => Parsed<Input['query']> {
  const schema = z.object(shape)
  const declared = Object.entries(shape).map(([name, one]) => ({ name, isList: isListInUrl(one) }))

  return (request) => {
    const sent = queryOf(request)
    const values: Record<string, string | undefined> = {}
    for (const { name, isList } of declared) {
      const all = valuesOf(request, sent, name)
      if (all.length > 1 && !isList) {
        const message = `${name} was sent ${all.length} times; send it once`
        return { ok: false, failure: { code: 'bad_request', message } }
      }
      values[name] = all.length === 0 ? undefined : all.join(',')
    }
    return parse(schema, values)
  }
}
