// The error class of the backend kit: the server refused, or there was no answer. Reads problem documents, and
// falls back to the status code for answers of proxies. Decide by `code`.
import type { Problem } from './api.ts'

export type BackendErrorCode = Problem['code']

export interface Refusal {
  code: BackendErrorCode
  /** 0: no answer. */
  status: number
  /** What to fix, for developers. */
  detail: string
  /** How long the server asks to wait before a retry. */
  retryAfterMs?: number | null
}

export class GreendotError extends Error {
  override readonly name = 'GreendotError'
  readonly code: BackendErrorCode
  readonly status: number
  readonly detail: string
  readonly retryAfterMs: number | null

  constructor({ code, status, detail, retryAfterMs = null }: Refusal, options?: ErrorOptions) {
    super(`${code}: ${detail}`, options)
    this.code = code
    this.status = status
    this.detail = detail
    this.retryAfterMs = retryAfterMs
  }
}

/** For answers of proxies, which have no problem document. */
const CODE_OF_STATUS: Record<number, BackendErrorCode> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

export function refusalIn(response: Response, text: string, now: number): GreendotError {
  const { status, headers } = response
  const retryAfterMs = retryAfter(headers.get('retry-after'), now)
  const said = problemIn(text)
  if (said !== null) return new GreendotError({ ...said, status, retryAfterMs })
  const detail = `answered ${status} without saying why; is this a Greendot server?`
  return new GreendotError({ code: CODE_OF_STATUS[status] ?? 'internal', status, detail, retryAfterMs })
}

function problemIn(text: string): Pick<Problem, 'code' | 'detail'> | null {
  try {
    const { code, detail } = JSON.parse(text) as Partial<Problem>
    return typeof code === 'string' && typeof detail === 'string' ? { code, detail } : null
  } catch {
    // Not a problem document: a page of a proxy, or empty.
    return null
  }
}

/** Parses the header: seconds or a date. */
function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
