// Calls operations as documented and checks every answer: a documented status, the documented media type, and
// a body that matches its schema without undocumented fields.
import { expectProblem } from './calls.ts'
import type { Document, Operation } from './openapi-document.ts'
import { createSchemaChecker, type SchemaChecker } from './openapi-schemas.ts'

export interface Request {
  /** By name; encoded, and lists joined by commas. */
  params?: Record<string, unknown>
  /** Undeclared query parameters. */
  query?: Record<string, unknown>
  token?: string | null
  /** Sent as JSON. */
  body?: unknown
  rawBody?: BodyInit
  headers?: Record<string, string>
  method?: string
}

export interface Answer {
  status: number
  headers: Headers
  type: string
  text: string
  /** Null when it is not JSON. */
  body: unknown
}

export interface Driver {
  checker: SchemaChecker
  /** Sends the request and throws unless the answer is as documented. */
  drive(operation: Operation, request: Request): Promise<Answer>
}

export function createDriver(url: string, document: Document): Driver {
  const checker = createSchemaChecker(document.components.schemas)

  function problemsOf(operation: Operation, method: string, answer: Answer): string[] {
    const { status, type, text, body } = answer
    const documented = operation.responses.get(status)
    if (documented === undefined) return [`${status} is not documented`]
    if (status >= 500) return [`${status}, and nothing is broken here`]
    if (documented.content === undefined) return text === '' ? [] : ['a body is not documented']
    const content = documented.content[type]
    if (content === undefined) return [`${status} as "${type}" is not documented`]
    // HEAD has no body, and a stream has no end.
    if (method === 'HEAD' || type === EVENT_STREAM) return []
    return checker.problemsOfAnswer(content.schema, isJson(type) ? body : text)
  }

  return {
    checker,
    async drive(operation, request) {
      const method = request.method ?? operation.method
      const path = pathOf(operation, request)
      try {
        const answer = await send(url + path, method, request)
        const problems = problemsOf(operation, method, answer)
        if (problems.length > 0) throw new Error(`${problems.join('; ')} in ${answer.text.slice(0, 300)}`)
        if (answer.type === PROBLEM && method !== 'HEAD') expectProblem(answer)
        return answer
      } catch (error) {
        const sent = JSON.stringify({ ...request, params: undefined }).slice(0, 300)
        throw new Error(`${method} ${path.slice(0, 300)} with ${sent}`, { cause: error })
      }
    },
  }
}

const PROBLEM = 'application/problem+json'
const EVENT_STREAM = 'text/event-stream'
const isJson = (type: string) => /^application\/(problem\+)?json$/.test(type)

async function send(url: string, method: string, request: Request): Promise<Answer> {
  const { token, body, rawBody } = request
  const headers = new Headers(request.headers)
  if (typeof token === 'string') headers.set('authorization', `Bearer ${token}`)
  const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url, { method, headers, ...(sent === undefined ? {} : { body: sent }) })
  const type = (response.headers.get('content-type') ?? '').split(';')[0]!
  if (type === EVENT_STREAM) await response.body?.cancel()
  const text = type === EVENT_STREAM ? '' : await response.text()
  const parsed: unknown = isJson(type) && text !== '' ? JSON.parse(text) : null
  return { status: response.status, headers: response.headers, type, text, body: parsed }
}

function encoded(value: unknown): string {
  if (Array.isArray(value)) return value.map(encoded).join(',')
  const text = typeof value === 'string' ? value : String(JSON.stringify(value))
  return encodeURIComponent(text.toWellFormed())
}

function pathOf(operation: Operation, { params = {}, query = {} }: Request): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(params[name]))
  const declared = operation.parameters
    .filter((parameter) => parameter.in === 'query' && params[parameter.name] !== undefined)
    .map(({ name }) => [name, params[name]] as const)
  const search = [...declared, ...Object.entries(query)].map(([name, value]) => `${name}=${encoded(value)}`)
  return search.length === 0 ? path : `${path}?${search.join('&')}`
}
