// Which pages may call: decides by the Origin header, which browsers set and pages cannot change, before a token
// is looked at. Requests without it come from programs or from a page of this server, and are not affected. The
// server's own origin is always allowed (decision 29). In dev mode only pages of this machine may call.
import type { Failure } from '@greendot/protocol'
import type { Config } from '../../platform/config/config.ts'
import { ANY_ORIGIN } from '../../platform/config/setting-types.ts'

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
const CORS_METHODS = 'GET, PUT, POST, PATCH, DELETE'
/** Headers that a page of another origin may send, and may read. */
const CORS_HEADERS_SENT = 'authorization, content-type, if-none-match, last-event-id'
const CORS_HEADERS_READ = 'etag, greendot-degraded, retry-after'

/** For answers that are the same for every origin, unless the server allows only some. */
export const FOR_EVERY_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': CORS_HEADERS_READ,
}

const NOT_OF_THIS_MACHINE: Failure = {
  code: 'forbidden',
  message: 'in dev mode only pages from this machine may call and connect',
}
const NOT_ALLOWED: Failure = {
  code: 'forbidden',
  message: 'pages of this origin may not call or connect; allowed_origins of the server does not have it',
}

type Sent = Pick<Request, 'headers'>

export interface OriginRules {
  /** Null when the request may go on. */
  failureFor(request: Sent): Failure | null
  /** Tells the browser that the page may read the answer. Only after `failureFor` returned null. */
  allow(request: Sent, response: Response): Response
}

export function createOriginRules({
  dev,
  allowedOrigins,
}: Pick<Config, 'dev' | 'allowedOrigins'>): OriginRules {
  const allowed = allowedOrigins.includes(ANY_ORIGIN) ? null : new Set(allowedOrigins)

  return {
    failureFor({ headers }) {
      if (dev && !isOfThisMachine(headers)) return NOT_OF_THIS_MACHINE
      const origin = headers.get('origin')
      if (allowed === null || origin === null) return null
      return allowed.has(origin.toLowerCase()) || isOwnOrigin(origin, headers) ? null : NOT_ALLOWED
    },

    // Tokens are sent in headers, never in cookies, so without a token an allowed page gets nothing.
    allow({ headers }, response) {
      const origin = headers.get('origin')
      const said = response.headers
      if (allowed === null) {
        if (origin === null || said.has('access-control-allow-origin')) return response
      } else said.delete('access-control-allow-origin')
      said.append('vary', 'origin')
      if (origin === null) return response
      said.set('access-control-allow-origin', origin)
      said.set('access-control-allow-methods', CORS_METHODS)
      said.set('access-control-allow-headers', CORS_HEADERS_SENT)
      said.set('access-control-expose-headers', CORS_HEADERS_READ)
      said.set('access-control-max-age', '600')
      return response
    },
  }
}

function isOfThisMachine(headers: Headers): boolean {
  // The Host is checked too: with DNS rebinding a foreign name points here and is its own origin.
  const host = headers.get('host')
  if (host !== null && !LOOPBACK_HOST.test(host.replace(/:\d+$/, ''))) return false
  const origin = headers.get('origin')
  return origin === null || (URL.canParse(origin) && LOOPBACK_HOST.test(new URL(origin).hostname))
}

/**
 * Whether the page was served under the name that this request was sent to: the Host header, or the one that a
 * proxy received. A page can set neither: no preflight allows X-Forwarded-Host. The scheme is compared only where
 * the proxy tells it, because the server itself does not see TLS.
 */
function isOwnOrigin(origin: string, headers: Headers): boolean {
  if (!/^https?:/i.test(origin) || !URL.canParse(origin)) return false
  const page = new URL(origin)
  const scheme = firstOf(headers.get('x-forwarded-proto'))
  if (scheme !== null && `${scheme}:` !== page.protocol) return false
  return [headers.get('host'), firstOf(headers.get('x-forwarded-host'))].some((host) => {
    const address = `${page.protocol}//${host ?? ''}`
    return host !== null && URL.canParse(address) && new URL(address).host === page.host
  })
}

/** Each proxy appends its own value; the first is the one that the browser sent. */
function firstOf(header: string | null): string | null {
  return header?.split(',', 1).join('').trim().toLowerCase() || null
}
