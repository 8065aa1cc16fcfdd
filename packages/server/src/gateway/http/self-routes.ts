// What people say about themselves by HTTP.
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/policy.ts'
import { toOwnPresence } from '../../presence/view.ts'
import type { Actions, Outcome } from '../actions.ts'
import { availabilityBody, customStatusBody } from '../schemas.ts'
import { readBody } from './body.ts'
import type { Routes } from './guard.ts'
import { refuse, reply } from './reply.ts'

export interface SelfRoutesParts {
  actions: Actions
  policy: Policy
  clock: Clock
}

export function selfRoutes({ actions, policy, clock }: SelfRoutesParts): Routes {
  const cleared = { text: null, emoji: null, expiresAt: null }

  function answer(userId: string, outcome: Outcome): Response {
    if (!outcome.ok) return refuse(outcome.failure)
    return reply(toOwnPresence(userId, outcome.tracked.record, clock.now(), policy))
  }

  return {
    '/api/v1/presence/status': {
      PUT: {
        for: 'user',
        async run(request, { userId }) {
          const body = await readBody(request, customStatusBody)
          if (!body.ok) return refuse(body.failure)
          return answer(userId, await actions.setCustomStatus(userId, body.value))
        },
      },
      DELETE: {
        for: 'user',
        run: async (_, { userId }) => answer(userId, await actions.setCustomStatus(userId, cleared)),
      },
    },
    '/api/v1/presence/availability': {
      PUT: {
        for: 'user',
        async run(request, { userId }) {
          const body = await readBody(request, availabilityBody)
          if (!body.ok) return refuse(body.failure)
          return answer(userId, await actions.setAvailability(userId, body.value))
        },
      },
    },
  }
}
