// What users set about themselves over HTTP, and what the app sets for them. Each route exists twice: for the
// user of the token, and for a backend that names the user.
import type { z } from 'zod'
import { settingsBody } from '../../input/person-schemas.ts'
import { availabilityBody, customStatusBody, userId } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Policy } from '../../presence/core/policy.ts'
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import { toOwnPresence } from '../../presence/core/view.ts'
import type { Actions, Outcome } from '../../presence/people/actions.ts'
import { toSettings } from '../../presence/people/settings-view.ts'
import type { Reader } from '../../presence/reading/reader.ts'
import { Unavailable } from '../../presence/unavailable.ts'
import { ownPresence, settings } from '../openapi/answers.ts'
import { refuse, reply } from '../reply.ts'
import { type Route, type RouteSpec, type Routes, route } from '../route.ts'

export interface SelfRoutesParts {
  actions: Actions
  reader: Reader
  policy: Policy
  rules: PrivacyRules
  clock: Clock
}

type Declared = Pick<RouteSpec<'user', never, never, never>, 'description' | 'answers' | 'refusals'>

interface Twofold<Body extends z.ZodType> extends Declared {
  /** The rate limit for calls by users. */
  limit?: 'write'
  /** `whose` is "your" or "their". */
  summary: (whose: string) => string
  body?: Body
  run(userId: string, body: z.output<Body>): Promise<Response>
}

function twofold<Body extends z.ZodType = z.ZodUndefined>(spec: Twofold<Body>): { own: Route; named: Route } {
  const { limit, summary, run, ...shared } = spec
  const own = route({
    ...shared,
    ...(limit === undefined ? {} : { limit }),
    for: 'user',
    summary: summary('your'),
    run: ({ caller, body }) => run(caller.userId, body as z.output<Body>),
  })
  const named = route({
    ...shared,
    for: 'server',
    summary: summary('their'),
    params: { user_id: userId },
    refusals: ['invalid_id', ...(shared.refusals ?? [])],
    run: ({ params, body }) => run(params.user_id, body as z.output<Body>),
  })
  return { own, named }
}

export function selfRoutes({ actions, reader, policy, rules, clock }: SelfRoutesParts): Routes {
  const cleared = { text: null, emoji: null, expiresAt: null }

  function answer(user: string, outcome: Outcome): Response {
    if (!outcome.ok) return refuse(outcome.failure)
    return reply(toOwnPresence(user, outcome.tracked.record, clock.now(), policy))
  }

  const setStatus = twofold({
    limit: 'write',
    summary: (whose) => `Set ${whose} custom status`,
    description: 'Without text and emoji it is cleared.',
    body: customStatusBody,
    answers: { 200: ownPresence },
    refusals: ['text_too_long', 'invalid_expiry'],
    run: async (user, body) => answer(user, await actions.setCustomStatus(user, body)),
  })
  const clearStatus = twofold({
    limit: 'write',
    summary: (whose) => `Clear ${whose} custom status`,
    answers: { 200: ownPresence },
    run: async (user) => answer(user, await actions.setCustomStatus(user, cleared)),
  })
  const setAvailability = twofold({
    limit: 'write',
    summary: (whose) => `Set ${whose} availability by hand`,
    description:
      'away, busy and invisible last until they expire or are replaced; auto and online return to automatic.',
    body: availabilityBody,
    answers: { 200: ownPresence },
    refusals: ['invalid_status', 'invalid_expiry'],
    run: async (user, body) => answer(user, await actions.setAvailability(user, body)),
  })
  const readSettings = twofold({
    summary: (whose) => `Read ${whose} settings`,
    answers: { 200: settings },
    async run(user) {
      const { records, isUnread } = await reader.read([user])
      const record = records[0] ?? null
      if (record === null ? isUnread : record.settings === 'unknown')
        throw new Unavailable('the settings cannot be read')
      return reply(toSettings(record, policy, rules))
    },
  })
  const changeSettings = twofold({
    limit: 'write',
    summary: (whose) => `Change ${whose} settings`,
    description:
      'Merges: fields that are not sent stay unchanged. It takes effect on open connections at once; a viewer ' +
      'who may no longer see the user gets one change to offline.',
    body: settingsBody,
    answers: { 200: settings },
    refusals: ['invalid_id', 'too_many_ids'],
    async run(user, body) {
      const { record } = await actions.changeSettings(user, body)
      return reply(toSettings(record, policy, rules))
    },
  })

  return {
    '/api/v1/presence/status': { PUT: setStatus.own, DELETE: clearStatus.own },
    '/api/v1/presence/availability': { PUT: setAvailability.own },
    '/api/v1/presence/settings': { GET: readSettings.own, PUT: changeSettings.own },
    '/api/v1/users/:user_id/status': { PUT: setStatus.named, DELETE: clearStatus.named },
    '/api/v1/users/:user_id/availability': { PUT: setAvailability.named },
    '/api/v1/users/:user_id/settings': { GET: readSettings.named, PUT: changeSettings.named },
  }
}
