// Explains why a viewer sees a user as they do (S7), for operators and support.

import { explainedUserId, viewerId } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import { explain } from '../../presence/explain/explain.ts'
import type { ViewerReader } from '../../presence/reading/viewer-reader.ts'
import { explanation } from '../openapi/explain-answer.ts'
import { DEGRADED, replyJson } from '../reply.ts'
import { type Routes, route } from '../route.ts'

const GUESSED = 'Contact lists cannot be read now, so no user counts as a contact until they can.'

const FROM_THE_DATABASE =
  'The hot store does not answer, so this is what the database knows: it has no sessions and no delays, and ' +
  'a user who was here at the last write counts as online.'

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
          'Device votes, the availability that was set, the privacy rule that decided, pending delays and the ' +
          'next deadline, in sentences and as data. Without viewer_id it explains the unfiltered state.',
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
