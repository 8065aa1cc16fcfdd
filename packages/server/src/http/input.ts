// From a request to the input that its route declares: path parameters, query parameters and the body. If
// one part is invalid or not declared, the whole request is refused. Schemas are built once per route.
import { z } from 'zod'
import { isListInUrl, type Parsed, parse } from '../input/schemas.ts'
import { knownFieldsOnly, parameterFailure } from '../input/unknown-names.ts'
import { readBody } from './body.ts'
import { paramsOf, queryOf, valuesOf } from './request-url.ts'
import type { Call, Route, Shape, Who } from './route.ts'

type Request = Call<Who, Shape, Shape, z.ZodType>['request']
export type Input = Pick<Call<Who, Shape, Shape, z.ZodType>, 'params' | 'query' | 'body'>

export function createInputReader(route: Route): (request: Request) => Promise<Parsed<Input>> {
  const params = route.params === undefined ? null : z.object(route.params)
  const readQuery = createQueryReader(route)
  const bodySchema = route.body === undefined ? null : knownFieldsOnly(route.body)

  return async (request) => {
    const fromPath = params === null ? NOTHING : parse(params, paramsOf(request))
    if (!fromPath.ok) return fromPath
    const fromQuery = readQuery(request)
    if (!fromQuery.ok) return fromQuery
    const body = bodySchema === null ? await readNoBody(request) : await readBody(request, bodySchema)
    if (!body.ok) return body
    return { ok: true, value: { params: fromPath.value, query: fromQuery.value, body: body.value } }
  }
}

const NOTHING = { ok: true, value: {} } as const

/** An empty object has no fields, so clients that always send one are answered. */
const EMPTY_OBJECT = '{}'
const UNWANTED = 'this route takes no body; send what it takes in the URL'

async function readNoBody(request: Request): Promise<Parsed<Record<never, never>>> {
  const { headers } = request
  const length = Number(headers.get('content-length') ?? 0)
  if (length === 0 && !headers.has('transfer-encoding')) return NOTHING
  if (length === EMPTY_OBJECT.length && (await request.text()) === EMPTY_OBJECT) return NOTHING
  return { ok: false, failure: { code: 'bad_request', message: UNWANTED } }
}

/** A list may be sent in several parts; any other parameter at most once. */
function createQueryReader({ query: shape = {}, takesTokenInUrl }: Route) {
  const schema = z.object(shape)
  const declared = Object.entries(shape).map(([name, one]) => ({ name, isList: isListInUrl(one) }))
  const known = [...Object.keys(shape), ...(takesTokenInUrl ? ['token'] : [])]

  return (request: Request): Parsed<Input['query']> => {
    const sent = queryOf(request)
    const unknown = parameterFailure(sent.keys(), known)
    if (unknown !== null) return { ok: false, failure: unknown }
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
