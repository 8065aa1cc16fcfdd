// The refusals of a route in the OpenAPI document, by status: the codes it declares and those of the guard.
// Responses that most routes share are written once, under components.
import { ERRORS, type ErrorCode } from '@greendot/protocol'
import type { Route } from '../route.ts'
import { problemDocument } from './answers.ts'
import type { Schemas } from './schemas.ts'

export interface Refusals {
  /** The answers together with every refusal of the route. */
  beside(answers: Record<string, object>, route: Route): Record<string, object>
  /** Responses that routes refer to. */
  shared(): Record<string, object>
}

const SHARED: Record<string, readonly ErrorCode[]> = {
  Unauthorized: ['unauthorized', 'token_expired'],
  Forbidden: ['forbidden'],
  NotFound: ['not_found'],
  TooLarge: ['too_large'],
  RateLimited: ['rate_limited'],
  Internal: ['internal'],
  Unavailable: ['unavailable'],
}

/** Sent by the parser, so it is not a problem document. */
const HEADERS_TOO_LARGE = { description: 'The URL and the headers have more than 64 KB together. No body' }

const HEADERS: Partial<Record<number, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'Bearer' },
  429: { 'Retry-After': 'Seconds to wait, for calls over a rate limit' },
  503: { 'Retry-After': 'Seconds to wait' },
}

export function createRefusals(schemas: Schemas): Refusals {
  const document = schemas.of(problemDocument)
  const shared: Record<string, object> = { HeadersTooLarge: HEADERS_TOO_LARGE }

  function responseOf(codes: readonly ErrorCode[]): { description: string; content: object } {
    const { status } = ERRORS[codes[0]!]
    const headers = Object.entries(HEADERS[status] ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ])
    return {
      description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('. '),
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
      content: {
        'application/problem+json': {
          schema: { ...document, properties: { code: { enum: codes } } },
        },
      },
    }
  }

  function refusalOf(codes: readonly ErrorCode[]): object {
    const name = Object.keys(SHARED).find((one) => SHARED[one]!.join() === codes.join())
    if (name === undefined) return responseOf(codes)
    shared[name] ??= responseOf(codes)
    return { $ref: `#/components/responses/${name}` }
  }

  return {
    beside(answers, route) {
      const headersTooLarge = { $ref: '#/components/responses/HeadersTooLarge' }
      const all: Record<string, object> = { ...answers, 431: headersTooLarge }
      for (const [status, codes] of codesByStatus(route)) {
        const answer = answers[status] as { content?: object } | undefined
        const refusal = responseOf(codes)
        all[status] =
          answer === undefined
            ? refusalOf(codes)
            : { ...answer, content: { ...answer.content, ...refusal.content } }
      }
      return all
    },
    shared: () => shared,
  }
}

function codesByStatus(route: Route): Map<string, ErrorCode[]> {
  const said = new Set(route.refusals)
  for (const code of saidByGuard(route)) said.add(code)
  // In the order of the registry, so that equal sets of codes share one response.
  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => said.has(code))
  return Map.groupBy(codes, (code) => `${ERRORS[code].status}`)
}

function saidByGuard(route: Route): ErrorCode[] {
  return [
    // For a field or a parameter that the route does not have.
    'bad_request',
    // For a token of the wrong kind, and for a page of an origin that is not allowed.
    'forbidden',
    'internal',
    ...(route.for === 'anyone' ? [] : (['unauthorized', 'token_expired', 'unavailable'] as const)),
    ...(route.body === undefined ? [] : (['too_large'] as const)),
    ...(route.limit === undefined ? [] : (['rate_limited'] as const)),
  ]
}
