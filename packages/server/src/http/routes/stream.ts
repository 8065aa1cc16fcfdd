// Watches users by server-sent events, for clients that cannot use WebSockets: the same frames, one per
// message. A browser whose stream is refused never reconnects by itself, so a stream that could not be
// resumed is refused from the beginning, and the limit on opening streams is one that reconnecting does not
// reach.
import { type Failure, IDS_PER_QUERY_MAX } from '@greendot/protocol'
import type { BunRequest } from 'bun'
import type { Streams } from '../../gateway/sessions/connections.ts'
import { queriedIdsInUrl } from '../../input/schemas.ts'
import type { Throttle } from '../access/throttle.ts'
import { refuse } from '../reply.ts'
import { type Routes, route, text } from '../route.ts'
import { HEAD_BYTES_MAX } from '../server.ts'

const EVENT_STREAM = 'text/event-stream'
/** Allowance for other headers: a browser may add cookies when it reconnects. */
const OTHER_HEADERS_BYTES = 2 * 1024
/** A version in base 36 and a dot, for each user in the list. */
const EVENT_ID_BYTES_PER_USER = 8
/** A browser sends back at most what it received. */
const LAST_EVENT_ID_CHARS_MAX = IDS_PER_QUERY_MAX * EVENT_ID_BYTES_PER_USER

export interface StreamRoutesParts {
  streams: Streams
  throttle: Throttle
  /** Disables the idle timeout of the connection. */
  keepOpen(request: BunRequest): void
}

export function streamRoutes({ streams, throttle, keepOpen }: StreamRoutesParts): Routes {
  return {
    '/api/v1/stream': {
      GET: route({
        for: 'user',
        takesTokenInUrl: true,
        summary: 'Watch users by server-sent events',
        description:
          'First presence_state with all users in the list, then presence_change frames, each as the data of ' +
          'one message. A browser that reconnects sends Last-Event-ID and gets only what changed; a list for ' +
          'which that would not fit into 64 KB of URL and headers is refused from the beginning. A stream does ' +
          'not make its user present: send heartbeats for that.',
        query: { user_ids: queriedIdsInUrl },
        answers: { 200: text(EVENT_STREAM, 'Frames as they come, until the token expires') },
        refusals: ['bad_request', 'invalid_id', 'too_many_ids', 'watch_limit', 'too_large', 'rate_limited'],
        async run({ query, caller, request }) {
          // Opening a stream sends the state of every user in the list, so without a limit it would be polling.
          const tooMany = await throttle.failureFor('stream', caller.userId)
          if (tooMany !== null) return refuse(tooMany)
          const tooLong = resumeFailure(request, query.user_ids.length)
          if (tooLong !== null) return refuse(tooLong)
          const lastEventId = request.headers.get('last-event-id')
          const opened = await streams.open({
            userId: caller.userId,
            tokenExpiresAt: caller.expiresAt,
            tokenIssuedAt: caller.issuedAt,
            userIds: [...new Set(query.user_ids)],
            lastEventId: (lastEventId?.length ?? 0) <= LAST_EVENT_ID_CHARS_MAX ? lastEventId : null,
          })
          if (!opened.ok) return refuse(opened.failure)
          keepOpen(request)
          return new Response(opened.body, {
            headers: {
              'content-type': EVENT_STREAM,
              'cache-control': 'no-store',
              // Proxies that buffer answers would hold back every change.
              'x-accel-buffering': 'no',
            },
          })
        },
      }),
    },
  }
}

/** A failure if the request that resumes this stream would be too long. */
function resumeFailure({ url, headers }: BunRequest, users: number): Failure | null {
  let sent = 0
  for (const [name, value] of headers)
    if (name !== 'last-event-id') sent += name.length + value.length + ': \r\n'.length
  const others = Math.max(sent, OTHER_HEADERS_BYTES)
  const needed = url.length + users * EVENT_ID_BYTES_PER_USER + others
  if (needed <= HEAD_BYTES_MAX) return null
  const message =
    `${users} users with ids this long could not be resumed: URL, event id and headers have at most ` +
    `${HEAD_BYTES_MAX} bytes and would have ${needed}; open two streams, or watch by WebSocket`
  return { code: 'too_large', message }
}
