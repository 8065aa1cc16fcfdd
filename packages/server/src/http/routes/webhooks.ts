// Webhooks, which the backend of the app manages. A secret is in the answer to the request that made it, and nowhere else.
import type { FailedDelivery } from '../../archive/port.ts'
import {
  failuresInUrl,
  toCursor,
  toFilter,
  webhookBody,
  webhookEditBody,
  webhookId,
} from '../../input/webhook-schemas.ts'
import { type KnownWebhook, urlProblem, WEBHOOKS_MAX, type Webhooks } from '../../webhooks/webhooks.ts'
import {
  type WebhookAnswer,
  webhookAdded,
  webhookAnswer,
  webhookFailures,
  webhookList,
  webhookReplay,
  webhookTest,
} from '../openapi/webhook-answer.ts'
import { noContent, refuse, reply } from '../reply.ts'
import { nothing, type Routes, route } from '../route.ts'

const params = { webhook_id: webhookId }
const NO_WEBHOOK = { code: 'not_found', message: 'there is no such webhook' } as const
const TOO_MANY = {
  code: 'bad_request',
  message: `there are ${WEBHOOKS_MAX} webhooks already; delete one`,
} as const

export interface WebhookRoutesParts {
  webhooks: Webhooks
  allowsPrivate: boolean
}

export function webhookRoutes({ webhooks, allowsPrivate }: WebhookRoutesParts): Routes {
  async function answer(id: string, secret?: string, status = 200): Promise<Response> {
    const known = await webhooks.find(id)
    if (known === null) return refuse(NO_WEBHOOK)
    return reply({ ...toAnswer(known), ...(secret !== undefined && { secret }) }, status)
  }

  return {
    '/api/v1/webhooks': {
      GET: route({
        for: 'server',
        summary: 'All webhooks',
        answers: { 200: webhookList },
        run: async () => reply({ webhooks: (await webhooks.list()).map(toAnswer) }),
      }),
      POST: route({
        for: 'server',
        summary: 'Add a webhook',
        description:
          'From the answer on, changes are sent to the URL, signed as the Standard Webhooks specification has it.',
        body: webhookBody,
        answers: { 201: webhookAdded },
        refusals: ['bad_request', 'invalid_id', 'too_many_ids'],
        async run({ body: { url, events, filter, secret } }) {
          const problem = urlProblem(url, allowsPrivate)
          if (problem !== null) return refuse({ code: 'bad_request', message: problem })
          const wanted = { url, events, filter: toFilter(filter), secret: secret ?? null }
          const added = await webhooks.add(wanted)
          if (added === null) return refuse(TOO_MANY)
          return answer(added.id, added.secrets[0]!.secret, 201)
        },
      }),
    },
    '/api/v1/webhooks/:webhook_id': {
      GET: route({
        for: 'server',
        summary: 'A webhook, and how its deliveries go',
        params,
        answers: { 200: webhookAnswer },
        refusals: ['not_found'],
        run: ({ params: { webhook_id } }) => answer(webhook_id),
      }),
      PATCH: route({
        for: 'server',
        summary: 'Edit a webhook',
        description:
          'What is left out stays. For a day after its secret was replaced, requests are signed with both.',
        params,
        body: webhookEditBody,
        answers: { 200: webhookAnswer },
        refusals: ['bad_request', 'invalid_id', 'too_many_ids', 'not_found'],
        async run({ params: { webhook_id }, body }) {
          const { url, events, filter, secret, rotate_secret, enabled } = body
          const problem = url === undefined ? null : urlProblem(url, allowsPrivate)
          if (problem !== null) return refuse({ code: 'bad_request', message: problem })
          if (secret !== undefined && rotate_secret)
            return refuse({ code: 'bad_request', message: 'send secret or rotate_secret, not both' })
          const edited = await webhooks.edit(webhook_id, {
            url,
            events,
            filter: filter === undefined ? undefined : toFilter(filter),
            secret: rotate_secret ? { isMade: true } : secret,
            isEnabled: enabled,
          })
          const made = rotate_secret === true ? edited?.secrets[0]?.secret : undefined
          return answer(webhook_id, made)
        },
      }),
      DELETE: route({
        for: 'server',
        summary: 'Delete a webhook',
        description: 'With everything that waits for it.',
        params,
        answers: { 204: nothing('Done') },
        refusals: ['not_found'],
        run: async ({ params: { webhook_id } }) =>
          (await webhooks.remove(webhook_id)) ? noContent() : refuse(NO_WEBHOOK),
      }),
    },
    '/api/v1/webhooks/:webhook_id/test': {
      POST: route({
        for: 'server',
        summary: 'Send a test event',
        description: 'One request, now, with an event of the type webhook.test.',
        params,
        answers: { 200: webhookTest },
        refusals: ['not_found'],
        async run({ params: { webhook_id } }) {
          const outcome = await webhooks.test(webhook_id)
          if (outcome === null) return refuse(NO_WEBHOOK)
          const because = outcome.ok ? null : outcome.because
          return reply({ delivered: outcome.ok, status: outcome.status, because })
        },
      }),
    },
    '/api/v1/webhooks/:webhook_id/failures': {
      GET: route({
        for: 'server',
        summary: 'Changes that could not be delivered',
        description: 'Each was tried for hours. They are kept for a week.',
        params,
        query: failuresInUrl,
        answers: { 200: webhookFailures },
        refusals: ['bad_request', 'not_found'],
        async run({ params: { webhook_id }, query: { after, limit } }) {
          const page = await webhooks.failures(webhook_id, after ?? null, limit)
          if (page === null) return refuse(NO_WEBHOOK)
          const next = page.length < limit ? null : toCursor(page.at(-1)!)
          return reply({ failures: page.map(toFailure), next })
        },
      }),
    },
    '/api/v1/webhooks/:webhook_id/replay': {
      POST: route({
        for: 'server',
        summary: 'Send failures again',
        description: 'All that were given up until now, with the ids they had.',
        params,
        answers: { 200: webhookReplay },
        refusals: ['not_found'],
        async run({ params: { webhook_id } }) {
          const replayed = await webhooks.replay(webhook_id)
          return replayed === null ? refuse(NO_WEBHOOK) : reply({ replayed })
        },
      }),
    },
  }
}

function toAnswer({ webhook, health }: KnownWebhook): WebhookAnswer {
  const { id, url, events, filter, secrets, state, createdAt } = webhook
  const isDisabled = state.state === 'disabled'
  return {
    id,
    url,
    events: [...events],
    filter: {
      user_ids: filter.userIds && [...filter.userIds],
      contacts_of: filter.contactsOf,
      platforms: filter.platforms && [...filter.platforms],
      viewer_id: filter.viewerId,
    },
    enabled: !isDisabled,
    disabled_at: isDisabled ? state.at : null,
    disabled_because: isDisabled ? state.because : null,
    created_at: createdAt,
    old_secret_until: secrets[1]?.until ?? null,
    pending: health.pending,
    failed: health.failed,
    failing_since: health.failingSince,
    last_failure: health.lastFailure,
    delivered_at: health.deliveredAt,
  }
}

function toFailure({ userId, events, attempts, failedAt, because }: FailedDelivery) {
  return { user_id: userId, events: JSON.parse(`[${events}]`), attempts, failed_at: failedAt, because }
}
