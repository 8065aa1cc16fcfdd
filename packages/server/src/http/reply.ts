// Answers over HTTP. Every refusal is a problem document with a registered code.
import { type Failure, problem } from '@greendot/protocol'
import type { RetriableFailure } from './access/throttle.ts'

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

export function reply(body: unknown, status = 200): Response {
  return replyJson(JSON.stringify(body), status)
}

/** Marks answers given without the hot store. */
export const DEGRADED = { 'greendot-degraded': 'true' }

/** For bodies that are JSON already. */
export function replyJson(json: string, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(json, { status, headers: { ...JSON_TYPE, 'cache-control': 'no-store', ...headers } })
}

export const noContent = (): Response => new Response(null, { status: 204 })

export function refuse(failure: Failure | RetriableFailure, headers: Record<string, string> = {}): Response {
  const document = problem(failure)
  const isUnauthorized = document.status === 401
  return new Response(JSON.stringify(document), {
    status: document.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(isUnauthorized ? { 'www-authenticate': 'Bearer' } : {}),
      ...('retryAfterSeconds' in failure ? { 'retry-after': `${failure.retryAfterSeconds}` } : {}),
      ...headers,
    },
  })
}
