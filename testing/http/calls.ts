// One request over HTTP and what every test wants to know of the answer. An answer that is not as the
// documentation says (a problem without its fields, JSON with another type) fails here, at once.
import { expect } from 'bun:test'
import { ERRORS, type ErrorCode } from '@greendot/protocol'

export interface Answer<Body = unknown> {
  status: number
  headers: Headers
  body: Body
  text: string
}

export interface CallOptions {
  /** `dev:bob` is bob and `dev` the server key; without one there is no Authorization header. */
  token?: string
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is. */
  rawBody?: BodyInit
  headers?: Record<string, string>
}

export async function call<Body = unknown>(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer<Body>> {
  const { token, body, rawBody } = options
  const headers = new Headers(options.headers)
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url + path, {
    method,
    headers,
    ...(sent === undefined ? {} : { body: sent }),
  })
  const text = await response.text()
  const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '')
  const answer = {
    status: response.status,
    headers: response.headers,
    body: (isJson && text !== '' ? JSON.parse(text) : null) as Body,
    text,
  }
  if (answer.status >= 400 && method !== 'HEAD') expectProblem(answer)
  return answer
}

/** The answer is a well-formed problem document, with this code when one is given. */
export function expectProblem(answer: Omit<Answer, 'text'>, code?: ErrorCode): void {
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const document = answer.body as Record<string, string | number>
  expect(Object.keys(document).sort()).toEqual(['code', 'detail', 'status', 'title', 'type'])
  if (code !== undefined) expect(document.code).toBe(code)
  expect(Object.hasOwn(ERRORS, String(document.code))).toBe(true)
  const registered = ERRORS[document.code as ErrorCode]
  expect(document.type).toBe(`urn:greendot:error:${document.code}`)
  expect(document.title).toBe(registered.title)
  expect(document.status).toBe(registered.status)
  expect(document.detail).toMatch(/\w{2,}/)
  expect(answer.status).toBe(registered.status)
}

/** What every viewer sees of an unknown user. */
export function unknown(userId: string) {
  return {
    user_id: userId,
    status: 'offline',
    last_seen: null,
    custom_status: null,
    devices: [],
    version: 0,
    source: 'db',
  } as const
}
