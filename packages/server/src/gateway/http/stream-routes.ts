// Watching by server-sent events, for where WebSockets cannot be had: the same frames, one a message.
import type { BunRequest } from 'bun'
import { queriedIdsInUrl } from '../schemas.ts'
import type { Streams } from '../streams.ts'
import { refuse } from './reply.ts'
import { type Routes, route, text } from './route.ts'

const EVENT_STREAM = 'text/event-stream'
/** What a browser sends back is at most what we gave it. */
const LAST_EVENT_ID_CHARS_MAX = 16 * 1024

export interface StreamRoutesParts {
  streams: Streams
  /** Lets a connection be silent for longer than a request may be. */
  keepOpen(request: BunRequest): void
}

export function streamRoutes({ streams, keepOpen }: StreamRoutesParts): Routes {
  return {
    '/api/v1/stream': {
      GET: route({
        for: 'user',
        takesTokenInUrl: true,
        summary: 'Watch people by server-sent events',
        description:
          'First presence_state with everybody asked for, then presence_change frames, each as the data of ' +
          'one message. A browser that lost the connection sends Last-Event-ID and gets only what changed. ' +
          'A stream makes nobody present: send heartbeats for that.',
        query: { user_ids: queriedIdsInUrl },
        answers: { 200: text(EVENT_STREAM, 'Frames as they come, until the token expires') },
        refusals: ['bad_request', 'invalid_id', 'too_many_ids', 'watch_limit', 'rate_limited'],
        async run({ query, caller, request }) {
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
