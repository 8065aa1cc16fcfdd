// Why does somebody see somebody as they do (S7): for operators, and for whoever answers their users.

import { explainedUserId, viewerId } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import { explain } from '../../presence/explain/explain.ts'
import type { ViewerReader } from '../../presence/reading/viewer-reader.ts'
import { explanation } from '../openapi/explain-answer.ts'
import { DEGRADED, replyJson } from '../reply.ts'
import { type Routes, route } from '../route.ts'

const GUESSED = 'Contact lists cannot be read right now, so nobody counts as a contact until they can.'

const FROM_THE_DATABASE =
  'The hot store does not answer, so this is what the database knows: sessions and delays are not in it, and ' +
  'whoever was here when it was last written is taken to be online.'

export interface ExplainRoutesParts {
  viewerReader: ViewerReader
  policy: Policy
  rules: PrivacyRules
  clock: Clock
}

export function explainRoutes({ viewerReader, policy, rules, clock }: ExplainRoutesParts): Routes {
  return {
    '/api/v1/explain': {
      GET: route({
        for: 'server',
        summary: 'Why does a viewer see a user as they do',
        description:
          'Device votes, what the user chose, the privacy rule that decided, running delays and the next ' +
          'deadline, in sentences and as data. Without viewer_id it explains the truth.',
        query: { user_id: explainedUserId, viewer_id: viewerId },
        answers: { 200: explanation },
        refusals: ['bad_request', 'invalid_id'],
        async run({ query }) {
          const { user_id: user, viewer_id: viewing } = query
          const as =
            viewing === undefined ? ({ kind: 'app' } as const) : ({ kind: 'user', userId: viewing } as const)
          const { record, viewer, relation, isGuess, isDegraded } = await viewerReader.context(as, user)
          const told = explain({
            userId: user,
            record,
            viewer: viewer ?? 'app',
            relation,
            rules,
            policy,
            now: clock.now(),
          })
          const because = [
            ...(isDegraded ? [FROM_THE_DATABASE] : []),
            ...told.because,
            ...(isGuess ? [GUESSED] : []),
          ]
          return replyJson(JSON.stringify({ ...told, because }), 200, isDegraded ? DEGRADED : {})
        },
      }),
    },
  }
}
