// The answers about webhooks, as schemas; see answers.ts.
import { PLATFORMS, WEBHOOK_EVENTS } from '@greendot/protocol'
import { z } from 'zod'
import { json } from '../route.ts'
import { instant, userId } from './answers.ts'

const count = z.int().min(0)

const webhook = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    filter: z.object({
      user_ids: z.array(userId).nullable(),
      contacts_of: userId.nullable(),
      platforms: z.array(z.enum(PLATFORMS)).nullable(),
      viewer_id: userId.nullable(),
    }),
    enabled: z.boolean(),
    disabled_at: instant.nullable(),
    disabled_because: z.string().nullable(),
    created_at: instant,
    old_secret_until: instant
      .nullable()
      .meta({ description: 'Until then requests are signed with the former secret too' }),
    secret: z.string().optional().meta({ description: 'Only in the answer to the request that made it' }),
    pending: count.meta({ description: 'Changes that are still to be delivered' }),
    failed: count.meta({ description: 'Changes that were given up; see failures' }),
    failing_since: instant.nullable().meta({ description: 'Since when every request failed' }),
    last_failure: z.string().nullable(),
    delivered_at: instant.nullable().meta({ description: 'When a request last succeeded' }),
  })
  .meta({ id: 'Webhook' })

export type WebhookAnswer = z.output<typeof webhook>

export const webhookAnswer = json(webhook, 'The webhook')
export const webhookAdded = json(webhook, 'The webhook with its secret, which is not shown again')
export const webhookList = json(z.object({ webhooks: z.array(webhook) }), 'All webhooks, oldest first')

export const webhookTest = json(
  z.object({
    delivered: z.boolean(),
    status: z.int().nullable().meta({ description: 'What the endpoint answered; null without an answer' }),
    because: z.string().nullable().meta({ description: 'Why it was not delivered' }),
  }),
  'What became of the test event',
)

export const webhookFailures = json(
  z.object({
    failures: z.array(
      z.object({
        user_id: userId,
        events: z.array(z.object({ id: z.string(), type: z.enum(WEBHOOK_EVENTS) }).loose()),
        attempts: count,
        failed_at: instant,
        because: z.string(),
      }),
    ),
    next: z.string().nullable().meta({ description: 'For `after`; null with the last page' }),
  }),
  'Changes that were given up, oldest first',
)

export const webhookReplay = json(
  z.object({ replayed: count.meta({ description: 'Changes that wait again' }) }),
  'They are sent again',
)
