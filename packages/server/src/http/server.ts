// The listening socket: WebSocket upgrades on one path, routes on the others. Limits of the transport are set
// here.
import http from 'node:http'
import { type Failure, FRAME_BYTES_MAX, isId, PLATFORMS, type Platform } from '@greendot/protocol'
import type { BunRequest, Server } from 'bun'
import type { Gateway } from '../gateway/gateway.ts'
import type { Opening, SocketData } from '../gateway/sessions/connections.ts'
import { activity, parse, platform as platformSchema } from '../input/schemas.ts'
import { parameterFailure } from '../input/unknown-names.ts'
import { randomName } from '../platform/ids.ts'
import { type Authenticator, bearerToken, type Caller, type Refusal } from './access/auth.ts'
import type { OriginRules } from './access/origins.ts'
import type { Guard } from './guard.ts'
import type { Pages } from './pages/page.ts'
import { refuse } from './reply.ts'
import { queryOf, valuesOf } from './request-url.ts'
import type { Methods, Routes } from './route.ts'
import { negotiate } from './subprotocol.ts'

/**
 * The parser answers a longer request line and headers with 431 and no body. The default of 16 KB is too
 * small for a stream URL with as many UUIDs as one connection may watch.
 */
export const HEAD_BYTES_MAX = 64 * 1024
/** A URL can grow beyond the limit of its request when bytes are written as %XX. */
const URL_CHARS_MAX = HEAD_BYTES_MAX
/** Our own limit is lower and answers with a problem document; this one protects the parser. */
const REQUEST_BYTES_MAX = 64 * 1024 * 1024
/** A connection with more unread bytes is closed. */
const UNREAD_BYTES_MAX = 2 * 1024 * 1024
const HTTP_IDLE_SECONDS = 10

/** The parameters of the path that speaks WebSocket. */
const PARAMETERS = ['token', 'device_id', 'platform', 'activity']

const TOO_LONG: Failure = { code: 'too_large', message: 'the URL is too long' }
const NOTHING_HERE: Failure = { code: 'not_found', message: 'nothing here' }

export interface HttpServerParts {
  host: string
  port: number
  /** Several processes of one deployment share the port. */
  reusePort: boolean
  origins: OriginRules
  guard: Guard
  routes: Routes
  /** Requests whose answer has no end of its own, as the routes found out: the idle timeout is not for them. */
  openEnded: Pick<WeakSet<Request>, 'has'>
  /** Served without authentication. */
  pages: Pages
  authenticator: Authenticator
  /** Null in a process without connections. */
  gateway: Pick<Gateway, 'sockets'> | null
  isDraining(): boolean
}

export type HttpServer = Server<SocketData>

export function serveHttp(parts: HttpServerParts): HttpServer {
  const { host, port, reusePort, origins, guard, routes, openEnded } = parts
  const { authenticator, gateway, isDraining } = parts

  function upgrade(
    request: Request,
    server: HttpServer,
  ): Response | undefined | Promise<Response | undefined> {
    const foreign = origins.failureFor(request)
    if (foreign !== null) return refuse(foreign, { vary: 'origin' })
    if (isDraining()) {
      return refuse(
        { code: 'unavailable', message: 'this server is going away; connect again' },
        { 'retry-after': '1' },
      )
    }
    const query = queryOf(request)
    const caller = authenticator.authenticate(bearerToken(request.headers, query))
    // Synchronous where possible: when all clients reconnect at once, this is the main cost.
    if (caller instanceof Promise)
      return caller.then((known) => open(request, server, openingOf(request, query, known)))
    return open(request, server, openingOf(request, query, caller))
  }

  function open(request: Request, server: HttpServer, opening: Opening | Failure): Response | undefined {
    const { encoding, headers } = negotiate(request.headers.get('sec-websocket-protocol'))
    const data = 'code' in opening ? opening : { ...opening, encoding }
    // Browsers cannot read the status of a failed upgrade, so refusals are sent over the socket.
    if (server.upgrade(request, { data, headers })) return undefined
    return refuse({ code: 'bad_request', message: 'this path speaks WebSocket; connect with one' })
  }

  function handlerOf(methods: Methods, path: string) {
    const answer = guard(methods, path)
    return async (request: BunRequest, server: HttpServer): Promise<Response> => {
      const response = await answer(request)
      if (openEnded.has(request)) server.timeout(request, 0)
      return response
    }
  }

  const guarded = Object.fromEntries(
    Object.entries(routes).map(([path, methods]) => [path, handlerOf(methods, path)]),
  )
  // Bun.serve has no option for it: its parser uses this value, for the whole process. It is read-only in
  // the types of Node, where it is a command-line flag.
  Object.assign(http, { maxHeaderSize: HEAD_BYTES_MAX })
  return Bun.serve<SocketData>({
    hostname: host,
    port,
    idleTimeout: HTTP_IDLE_SECONDS,
    maxRequestBodySize: REQUEST_BYTES_MAX,
    development: false,
    // Always set: by default a second server could silently share the port.
    reusePort,
    routes: { ...guarded, ...(gateway === null ? {} : { '/api/v1/ws': upgrade }), ...parts.pages },
    fetch: (request) => refuse(request.url.length > URL_CHARS_MAX ? TOO_LONG : NOTHING_HERE),
    error: () => refuse({ code: 'internal', message: 'the request failed' }),
    websocket: {
      maxPayloadLength: FRAME_BYTES_MAX,
      backpressureLimit: UNREAD_BYTES_MAX,
      closeOnBackpressureLimit: true,
      perMessageDeflate: false,
      // The gateway detects silence itself, for all connections in one sweep.
      idleTimeout: 0,
      sendPings: false,
      open: (socket) => gateway?.sockets.open(socket),
      message: (socket, message) => gateway?.sockets.message(socket, message),
      close: (socket) => gateway?.sockets.close(socket),
      drain: (socket) => gateway?.sockets.drained(socket),
    },
  })
}

function openingOf(request: Request, query: URLSearchParams, caller: Caller | Refusal): Opening | Failure {
  if (caller.kind === 'refused') return { code: caller.code, message: caller.message }
  if (caller.kind === 'server') return { code: 'forbidden', message: 'only users connect; use a user token' }
  const unknown = parameterFailure(query.keys(), PARAMETERS)
  if (unknown !== null) return unknown
  const [deviceId = randomName('d-')] = valuesOf(request, query, 'device_id')
  if (!isId(deviceId)) return { code: 'invalid_id', message: 'device_id is not a valid id' }
  const platform = parse(platformSchema, query.get('platform') ?? ('other' satisfies Platform))
  if (!platform.ok) return { code: 'bad_request', message: `platform is one of ${PLATFORMS.join(', ')}` }
  const said = query.get('activity')
  const chosen = said === null ? null : parse(activity, said)
  if (chosen !== null && !chosen.ok) return chosen.failure
  return {
    userId: caller.userId,
    deviceId,
    platform: platform.value,
    activity: chosen === null ? null : chosen.value,
    tokenExpiresAt: caller.expiresAt,
    tokenIssuedAt: caller.issuedAt,
  }
}
