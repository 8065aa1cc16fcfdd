// Watching by server-sent events, for where WebSockets cannot be had: the same frames, one a message. A
// browser whose stream is refused never comes back by itself, so whatever could not be resumed later is not
// opened in the first place, and opening again and again is held to a limit that reconnecting does not meet.
import { type Failure, IDS_PER_QUERY_MAX } from '@greendot/protocol'
import type { BunRequest } from 'bun'
import type { Streams } from '../../gateway/sessions/connections.ts'
import { queriedIdsInUrl } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { PollLimit } from '../poll-limit.ts'
import { refuse } from '../reply.ts'
import { type Routes, route, text } from '../route.ts'
import { HEAD_BYTES_MAX } from '../server.ts'

const EVENT_STREAM = 'text/event-stream'
/** What is in a head besides the list and the id, generously: a browser adds cookies when it comes back. */
const OTHER_HEADERS_BYTES = 2 * 1024
/** A version in base 36 and a dot, for everybody in the list. */
const EVENT_ID_BYTES_PER_USER = 8
/** What a browser sends back is at most what we gave it. */
const LAST_EVENT_ID_CHARS_MAX = IDS_PER_QUERY_MAX * EVENT_ID_BYTES_PER_USER

/** How soon a user who has opened as many streams as they may at once may open another. */
export const STREAM_EVERY_MS = 1_000

export interface StreamRoutesParts {
  streams: Streams
  /** Every opening sends the state of everybody asked for: without a limit it would be a way to poll. */
  openings: PollLimit
  clock: Pick<Clock, 'now'>
  /** Lets a connection be silent for longer than a request may be. */
  keepOpen(request: BunRequest): void
}

export function streamRoutes({ streams, openings, clock, keepOpen }: StreamRoutesParts): Routes {
  return {
    '/api/v1/stream': {
      GET: route({
        for: 'user',
        takesTokenInUrl: true,
        summary: 'Watch people by server-sent events',
        description:
          'First presence_state with everybody asked for, then presence_change frames, each as the data of ' +
          'one message. A browser that lost the connection sends Last-Event-ID and gets only what changed; a ' +
          'list for which that would not fit into 64 KB of URL and headers is refused from the beginning. ' +
          'A stream makes nobody present: send heartbeats for that.',
        query: { user_ids: queriedIdsInUrl },
        answers: { 200: text(EVENT_STREAM, 'Frames as they come, until the token expires') },
        refusals: ['bad_request', 'invalid_id', 'too_many_ids', 'watch_limit', 'too_large', 'rate_limited'],
        async run({ query, caller, request }) {
          const waitMs = openings.take(caller.userId, clock.now())
          if (waitMs > 0) {
            const seconds = Math.ceil(waitMs / 1000)
            const message = `too many streams opened one after the other; wait ${seconds} s, or keep one open`
            return refuse({ code: 'rate_limited', message }, { 'retry-after': `${seconds}` })
          }
          const tooLong = resumeFailure(request, query.user_ids.length)
          if (tooLong !== null) return refuse(tooLong)
          const lastEventId = request.headers.get('last-event-id')
          const opened = await streams.open({
            userId: caller.userId,
            tokenExpiresAt: caller.expiresAt,
            userIds: [...new Set(query.user_ids)],
            lastEventId: (lastEventId?.length ?? 0) <= LAST_EVENT_ID_CHARS_MAX ? lastEventId : null,
          })
          if (!opened.ok) return refuse(opened.failure)
          keepOpen(request)
          return new Response(opened.body, {
            headers: {
              'content-type': EVENT_STREAM,
              'cache-control': 'no-store',
              // Proxies that collect answers before they pass them on would hold back every change.
              'x-accel-buffering': 'no',
            },
          })
        },
      }),
    },
  }
}

/** What would be wrong with the request by which this stream is to be resumed. */
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
