// Schemas of requests about webhooks.
import {
  isWebhookSecret,
  PLATFORMS,
  type Platform,
  WEBHOOK_EVENTS,
  WEBHOOK_SECRET_BYTES_MAX,
  WEBHOOK_SECRET_BYTES_MIN,
  type WebhookEventType,
} from '@greendot/protocol'
import { z } from 'zod'
import type { FailureCursor, WebhookFilter } from '../archive/port.ts'
import { idList, said, userId } from './schemas.ts'

const FILTER_USERS_MAX = 1000
const FAILURES_PER_PAGE = 100
const FAILURES_PER_PAGE_MAX = 500
const CURSOR_CHARS_MAX = 512
const URL_CHARS_MAX = 2048
const EXAMPLE_URL = 'https://hooks.example/presence'

const urlMessage = said(
  'bad_request',
  `url is the address of your endpoint, of at most ${URL_CHARS_MAX} characters`,
)
const eventsMessage = said(
  'bad_request',
  `events is a list of one or more of ${WEBHOOK_EVENTS.join(', ')}, each once`,
)
const platformsMessage = said('bad_request', `platforms is a list of one or more of ${PLATFORMS.join(', ')}`)
const secretMessage = said(
  'bad_request',
  `secret is whsec_ and ${WEBHOOK_SECRET_BYTES_MIN} to ${WEBHOOK_SECRET_BYTES_MAX} bytes in base64; leave it out to have one made`,
)

const isDistinct = (list: readonly string[]): boolean => new Set(list).size === list.length

const url = z
  .string({ error: urlMessage })
  .max(URL_CHARS_MAX, { error: urlMessage })
  .meta({ pattern: '^https?://', examples: [EXAMPLE_URL] })

const events: z.ZodType<WebhookEventType[]> = z
  .array(z.enum(WEBHOOK_EVENTS, { error: eventsMessage }), { error: eventsMessage })
  .min(1, { error: eventsMessage })
  .max(WEBHOOK_EVENTS.length, { error: eventsMessage })
  .refine(isDistinct, { error: eventsMessage })
  .meta({ uniqueItems: true, examples: [['user.online', 'user.offline']] })

const platforms: z.ZodType<Platform[]> = z
  .array(z.enum(PLATFORMS, { error: platformsMessage }), { error: platformsMessage })
  .min(1, { error: platformsMessage })
  .max(PLATFORMS.length, { error: platformsMessage })
  .refine(isDistinct, { error: platformsMessage })
  .meta({ uniqueItems: true, examples: [['mobile']] })

const filter = z
  .object(
    {
      user_ids: idList({
        name: 'user_ids',
        max: FILTER_USERS_MAX,
        tooMany: `a filter has at most ${FILTER_USERS_MAX} users`,
      })
        .nullish()
        .meta({ description: 'Only events of these users' }),
      contacts_of: userId
        .nullish()
        .meta({ description: 'Only events of users on the contact list of this user' }),
      platforms: platforms.nullish().meta({ description: 'Only events with one of these devices' }),
      viewer_id: userId.nullish().meta({
        description: 'Events as this user sees them. Without it, what the backend of the app may know',
      }),
    },
    { error: said('bad_request', 'filter is an object') },
  )
  .meta({ id: 'WebhookFilterInput', examples: [{ user_ids: ['alice', 'bob'] }] })

const secret = z
  .string({ error: secretMessage })
  .refine(isWebhookSecret, { error: secretMessage })
  .meta({
    description: 'As the Standard Webhooks specification has it',
    pattern: '^whsec_[A-Za-z0-9+/]{32,86}={0,2}$',
    examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
  })

export const webhookBody = z
  .object({ url, events, filter: filter.nullish(), secret: secret.optional() })
  .meta({ examples: [{ url: EXAMPLE_URL, events: ['user.online', 'user.offline'] }] })

export const webhookEditBody = z
  .object({
    url: url.optional(),
    events: events.optional(),
    filter: filter.nullish().meta({ description: 'Replaces the whole filter; null removes it' }),
    secret: secret.optional(),
    rotate_secret: z
      .boolean({ error: said('bad_request', 'rotate_secret is true or false') })
      .optional()
      .meta({ description: 'Makes a new secret, which is in the answer' }),
    enabled: z
      .boolean({ error: said('bad_request', 'enabled is true or false') })
      .optional()
      .meta({ description: 'true after a webhook was disabled: it is told of changes from now on' }),
  })
  .meta({ examples: [{ enabled: true }] })

type SentFilter = z.output<typeof filter>

export const toFilter = (sent: SentFilter | null | undefined): WebhookFilter => ({
  userIds: sent?.user_ids ?? null,
  contactsOf: sent?.contacts_of ?? null,
  platforms: sent?.platforms ?? null,
  viewerId: sent?.viewer_id ?? null,
})

export const webhookId = z.string().meta({ examples: ['wh_0123456789abcdef'] })

const cursorMessage = said('bad_request', 'after is the `next` of the page before')

export const failuresInUrl = {
  after: z
    .string()
    .max(CURSOR_CHARS_MAX, { error: cursorMessage })
    .transform((text, context) => {
      const cursor = fromCursor(text)
      if (cursor !== null) return cursor
      context.addIssue(cursorMessage)
      return z.NEVER
    })
    .optional()
    .meta({
      type: 'string',
      description: 'The `next` of the page before',
      examples: [toCursor({ failedAt: 1, order: 1, userId: 'a' })],
    }),
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= FAILURES_PER_PAGE_MAX)
    .catch(() => 0)
    .refine((limit) => limit > 0, { error: said('bad_request', `limit is 1 to ${FAILURES_PER_PAGE_MAX}`) })
    .default(FAILURES_PER_PAGE)
    .meta({ type: 'integer', minimum: 1, maximum: FAILURES_PER_PAGE_MAX, default: FAILURES_PER_PAGE }),
}

export function toCursor({ failedAt, order, userId: user }: FailureCursor): string {
  return Buffer.from(JSON.stringify([failedAt, order, user])).toString('base64url')
}

const cursor = z.tuple([z.int().min(0), z.int().min(0), userId])

function fromCursor(text: string): FailureCursor | null {
  try {
    const [failedAt, order, user] = cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    return { failedAt, order, userId: user }
  } catch {
    return null
  }
}
