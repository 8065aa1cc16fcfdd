// The one error of the backend kit: what a server refused, or that nobody answered. Reads problem
// documents, and makes do with whatever a proxy on the way says instead. Decide by `code`.
import type { Problem } from './api.ts'

export type BackendErrorCode = Problem['code']

export interface Refusal {
  code: BackendErrorCode
  /** 0 when no answer came. */
  status: number
  /** For people: what to mend. */
  detail: string
  /** How long the server asks to wait before another try, where it does. */
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

/** Proxies speak for themselves; their statuses mean what ours mean. */
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
    // Not ours: a page of a proxy, or nothing at all.
    return null
  }
}

/** Seconds or a date, as HTTP has it; null for neither. */
function retryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
