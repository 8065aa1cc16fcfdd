// The live feed of changes for operators, as server-sent events.
import type { BunRequest } from 'bun'
import type { Feed } from '../../ops/feed.ts'
import { refuse } from '../reply.ts'
import { type Routes, route, text } from '../route.ts'

const EVENT_STREAM = 'text/event-stream'

export interface FeedRoutesParts {
  feed: Feed
  keepOpen(request: BunRequest): void
}

export function feedRoutes({ feed, keepOpen }: FeedRoutesParts): Routes {
  return {
    '/api/v1/feed': {
      GET: route({
        for: 'server',
        summary: 'Changes as they happen',
        description:
          'Unfiltered changes as server-sent events: those decided by the process that answers, at most 20 a ' +
          'second, then the number that was left out. For display; programs watch users instead.',
        answers: { 200: text(EVENT_STREAM, 'Changes, until the connection is closed') },
        refusals: ['overloaded'],
        run({ request }) {
          const body = feed.open()
          if (body === null) return refuse({ code: 'overloaded', message: 'too many feeds are open' })
          keepOpen(request)
          return new Response(body, {
            headers: { 'content-type': EVENT_STREAM, 'cache-control': 'no-store' },
          })
        },
      }),
    },
  }
}
