// Between the socket and the routes: who calls, which method, which origin. A handler runs only for
// the callers it is made for, and an error nobody expected becomes one answer and one log line.
import { ERRORS, type ErrorCode } from '@greendot/protocol'
import type { BunRequest } from 'bun'
import type { Logger } from '../../platform/logger.ts'
import { Unavailable } from '../../presence/unavailable.ts'
import { type Authenticator, bearerToken, type Caller } from '../auth.ts'
import { refuse } from './reply.ts'

export type Request<Path extends string = string> = BunRequest<Path>
type User = Extract<Caller, { kind: 'user' }>
type Answer = Response | Promise<Response>

/** Who a route is for, and what it does for them. */
export type Route =
  | { for: 'anyone'; run(request: Request): Answer }
  | { for: 'user'; run(request: Request, user: User): Answer }
  | { for: 'server'; run(request: Request): Answer }
  | { for: 'caller'; run(request: Request, caller: Caller): Answer }

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'
export type Routes = Record<string, Partial<Record<Method, Route>>>

export interface GuardParts {
  authenticator: Authenticator
  logger: Logger
  /** In dev mode only pages from this machine may call: its tokens are no secret. */
  dev: boolean
}

export type Guard = (methods: Partial<Record<Method, Route>>) => (request: Request) => Promise<Response>

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
const CORS_METHODS = 'GET, PUT, POST, DELETE'

export function isAllowedOrigin(request: { headers: Headers }, dev: boolean): boolean {
  if (!dev) return true
  // The Host too: a foreign name that was made to point here would be an origin of its own.
  const host = request.headers.get('host')
  if (host !== null && !LOOPBACK_HOST.test(host.replace(/:\d+$/, ''))) return false
  const origin = request.headers.get('origin')
  return origin === null || (URL.canParse(origin) && LOOPBACK_HOST.test(new URL(origin).hostname))
}

export function createGuard({ authenticator, logger, dev }: GuardParts): Guard {
  const say = (code: ErrorCode, message: string = ERRORS[code].title) => refuse({ code, message })

  async function run(route: Route, request: Request): Promise<Response> {
    if (route.for === 'anyone') return route.run(request)
    const caller = await authenticator.authenticate(bearerToken(request.headers))
    if (caller.kind === 'refused') return refuse(caller)
    switch (route.for) {
      case 'user':
        if (caller.kind === 'user') return route.run(request, caller)
        return say('forbidden', 'this route acts for the user of the token; a server key has none')
      case 'server':
        return caller.kind === 'server'
          ? route.run(request)
          : say('forbidden', 'this route needs a server key')
      case 'caller':
        return route.run(request, caller)
    }
  }

  return (methods) => async (request) => {
    if (!isAllowedOrigin(request, dev))
      return say('forbidden', 'in dev mode only pages from this machine may call')
    const origin = request.headers.get('origin')
    if (request.method === 'OPTIONS') return withCors(new Response(null, { status: 204 }), origin)
    const route = methods[(request.method === 'HEAD' ? 'GET' : request.method) as Method]
    if (route === undefined) {
      const allow = Object.keys(methods).join(', ')
      const failure = { code: 'method_not_allowed', message: `only ${allow} here` } as const
      return withCors(refuse(failure, { allow }), origin)
    }
    try {
      return withCors(await run(route, request), origin)
    } catch (error) {
      if (error instanceof Unavailable) {
        const failure = {
          code: 'unavailable',
          message: 'presence cannot be reached; try again soon',
        } as const
        return withCors(refuse(failure, { 'retry-after': '1' }), origin)
      }
      logger.error({ err: error, method: request.method, url: request.url }, 'a request failed')
      return withCors(say('internal', 'the request failed; the log has the reason'), origin)
    }
  }
}

// Tokens travel in headers, never in cookies, so any origin may ask: without a token it gets nothing.
function withCors(response: Response, origin: string | null): Response {
  if (origin === null) return response
  response.headers.set('access-control-allow-origin', origin)
  response.headers.set('access-control-allow-methods', CORS_METHODS)
  response.headers.set('access-control-allow-headers', 'authorization, content-type')
  response.headers.set('access-control-expose-headers', 'greendot-degraded, retry-after')
  response.headers.set('access-control-max-age', '600')
  response.headers.append('vary', 'origin')
  return response
}
