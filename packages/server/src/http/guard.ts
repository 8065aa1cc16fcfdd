// Stands before the routes and checks the origin, the method, the caller, the rate and the declared input. A
// handler runs only when all checks pass. An unexpected error becomes one answer and one log line.
import type { ErrorCode } from '@greendot/protocol'
import type { BunRequest } from 'bun'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import { Unavailable } from '../presence/unavailable.ts'
import { type Authenticator, bearerToken, type Caller } from './access/auth.ts'
import type { OriginRules } from './access/origins.ts'
import type { Throttle } from './access/throttle.ts'
import { createInputReader } from './input.ts'
import { refuse } from './reply.ts'
import { queryOf } from './request-url.ts'
import type { Methods, Route } from './route.ts'

export interface GuardParts {
  authenticator: Authenticator
  throttle: Throttle
  logger: Logger
  origins: OriginRules
  clock: Pick<Clock, 'elapsed'>
  tally: Tally
}

type Handler = (request: BunRequest) => Promise<Response>
/** The path of a route is what its log lines name: that of a request has what the client put there. */
export type Guard = (methods: Methods, path: string) => Handler

const TRY_AGAIN = 'presence cannot be reached; try again soon'

export function createGuard(parts: GuardParts): Guard {
  const { authenticator, throttle, logger, origins, clock, tally } = parts
  const refuseWith = (code: ErrorCode, message: string, headers: Record<string, string> = {}) =>
    refuse({ code, message }, headers)

  /** Null when the caller may call this route now. */
  async function refusalFor(caller: Caller, route: Route): Promise<Response | null> {
    if (route.for === 'user' && caller.kind !== 'user')
      return refuseWith('forbidden', 'this route acts for the user of the token; a server key has none')
    if (route.for === 'server' && caller.kind !== 'server')
      return refuseWith('forbidden', 'this route needs a server key')
    if (route.limit === undefined || caller.kind !== 'user') return null
    // Before parsing, so that invalid requests count too.
    const failure = await throttle.failureFor(route.limit, caller.userId)
    return failure === null ? null : refuse(failure)
  }

  function handlerOf(route: Route): Handler {
    const readInput = createInputReader(route)

    async function run(request: BunRequest, caller: Caller | null): Promise<Response> {
      const input = await readInput(request)
      return input.ok ? route.run({ ...input.value, caller, request }) : refuse(input.failure)
    }

    return async (request) => {
      if (route.for === 'anyone') return run(request, null)
      const caller = await authenticator.authenticate(
        bearerToken(request.headers, route.takesTokenInUrl ? queryOf(request) : undefined),
      )
      if (caller.kind === 'refused') return refuse(caller)
      return (await refusalFor(caller, route)) ?? run(request, caller)
    }
  }

  async function answer(handler: Handler, request: BunRequest, route: string): Promise<Response> {
    try {
      return await handler(request)
    } catch (error) {
      if (error instanceof Unavailable)
        return refuseWith('unavailable', error.advice ?? TRY_AGAIN, { 'retry-after': '1' })
      logger.error({ err: error, method: request.method, route }, 'a request failed')
      return refuseWith('internal', 'the request failed; the log has the reason')
    }
  }

  return (methods, path) => {
    const handlers = new Map(Object.entries(methods).map(([method, route]) => [method, handlerOf(route)]))
    const allow = [...handlers.keys()].join(', ')

    async function respond(request: BunRequest): Promise<Response> {
      const foreign = origins.failureFor(request)
      if (foreign !== null) return refuse(foreign, { vary: 'origin' })
      if (request.method === 'OPTIONS') return origins.allow(request, new Response(null, { status: 204 }))
      const handler = handlers.get(request.method === 'HEAD' ? 'GET' : request.method)
      return origins.allow(
        request,
        handler === undefined
          ? refuseWith('method_not_allowed', `only ${allow} here`, { allow })
          : await answer(handler, request, path),
      )
    }

    return async (request) => {
      const startedAt = clock.elapsed()
      const response = await respond(request)
      tally.requests.observe(clock.elapsed() - startedAt)
      tally.responses.add(String(response.status))
      return response
    }
  }
}
