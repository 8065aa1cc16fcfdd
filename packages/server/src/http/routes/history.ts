// The history of one user, for the backend and for the user, and the hours of all users, for the backend.
import { spanInUrl, spanOf } from '../../input/history-schemas.ts'
import { userId } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { History, HistoryAnswer } from '../../presence/people/history.ts'
import { allHistory, userHistory } from '../openapi/history-answer.ts'
import { refuse, reply } from '../reply.ts'
import { type Routes, route } from '../route.ts'

const OFF = 'this server keeps no history; its operator turns it on with the setting history_days'
const NOT_ALLOWED =
  'this user keeps no history; the setting history turns it on: PUT /api/v1/presence/settings {"history":true}'
const NOT_YOURS = 'a user reads the own history only; that of others needs a server key'

export interface HistoryRoutesParts {
  history: History
  clock: Clock
}

export function historyRoutes({ history, clock }: HistoryRoutesParts): Routes {
  return {
    '/api/v1/users/:user_id/history': {
      GET: route({
        for: 'caller',
        limit: 'read',
        summary: 'History of a user',
        description:
          'Only where the server keeps a history and the user allows one. With a user token, the own history. A very ' +
          'long answer ends early: go on from its `to`.',
        params: { user_id: userId },
        query: spanInUrl,
        answers: { 200: userHistory },
        refusals: ['bad_request', 'invalid_id', 'forbidden', 'not_found'],
        async run({ caller, params, query }) {
          if (caller.kind === 'user' && caller.userId !== params.user_id)
            return refuse({ code: 'forbidden', message: NOT_YOURS })
          const span = spanOf(query, clock.now())
          if (!span.ok) return refuse(span.failure)
          return answer(await history.of(params.user_id, span.value.from, span.value.to))
        },
      }),
    },
    '/api/v1/history': {
      GET: route({
        for: 'server',
        summary: 'Hours of all users',
        description: 'Only of users who allow a history, and only where the server keeps one.',
        query: spanInUrl,
        answers: { 200: allHistory },
        refusals: ['bad_request', 'not_found'],
        async run({ query }) {
          const span = spanOf(query, clock.now())
          if (!span.ok) return refuse(span.failure)
          return answer(await history.ofAll(span.value.from, span.value.to))
        },
      }),
    },
  }
}

function answer(found: HistoryAnswer<unknown>): Response {
  switch (found.state) {
    case 'kept':
      return reply(found.history)
    case 'off':
      return refuse({ code: 'not_found', message: OFF })
    case 'not allowed':
      return refuse({ code: 'not_found', message: NOT_ALLOWED })
  }
}
