// Schemas of input, for WebSocket frames and HTTP requests alike. The message of a schema is
// `code: sentence` with a registered error code, so that bad input gets a precise answer.
import {
  ACTIVITIES,
  AVAILABILITY_CHOICES,
  type Availability,
  CUSTOM_EMOJI_BYTES_MAX,
  CUSTOM_TEXT_CHARS_MAX,
  ERRORS,
  type ErrorCode,
  type Failure,
  IDS_PER_QUERY_MAX,
  isId,
  PLATFORMS,
  utf8Length,
} from '@greendot/protocol'
import { z } from 'zod'
import {
  EMOJI_SCHEMA,
  EXPIRY_MS_SCHEMA,
  EXPIRY_TEXT_SCHEMA,
  ID_SCHEMA,
  INSTANT_MAX,
  TEXT_SCHEMA,
} from './json-schema.ts'

export type Parsed<T> = { ok: true; value: T } | { ok: false; failure: Failure }

export const said = (code: ErrorCode, sentence: string) => `${code}: ${sentence}`

const NOT_AN_ID = said(
  'invalid_id',
  'an id is 1 to 128 bytes of UTF-8 without control characters, white space or commas',
)

export const userId = z
  .string({ error: NOT_AN_ID })
  .refine(isId, { error: NOT_AN_ID })
  .meta({ ...ID_SCHEMA, examples: ['alice'] })

interface IdListRule {
  name: string
  max: number
  tooMany: string
}

const rule = (max: number): IdListRule => ({
  name: 'user_ids',
  max,
  tooMany: `at most ${max} ids a call; split the list`,
})

/**
 * Checks a list of ids as a whole instead of element by element: lists are long, and connecting and
 * querying wait for this.
 */
export function idList(list: IdListRule) {
  return z
    .unknown()
    .transform((value, context) => checkedIds(value, list, context))
    .meta(idListSchema(list.max))
}

function checkedIds(value: unknown, list: IdListRule, context: z.RefinementCtx): string[] {
  const problem = idListProblem(value, list)
  if (problem === null) return value as string[]
  context.addIssue(problem)
  return z.NEVER
}

/** The same list for the OpenAPI document, which cannot see inside the check. */
function idListSchema(max: number): Record<string, unknown> {
  const items = { type: 'string', ...ID_SCHEMA }
  const limit = Number.isFinite(max) ? { maxItems: max } : {}
  return { type: 'array', items, ...limit, examples: [['alice', 'bob']] }
}

function idListProblem(value: unknown, { name, max, tooMany }: IdListRule): string | null {
  if (!Array.isArray(value)) return said('bad_request', `${name} is a list of ids`)
  if (value.length > max) return said('too_many_ids', tooMany)
  return value.every(isId) ? null : NOT_AN_ID
}

export const userIds = idList(rule(Number.POSITIVE_INFINITY))
const queriedIds = idList(rule(IDS_PER_QUERY_MAX))

const noUsersNamed = { error: said('bad_request', 'name the users: ?user_ids=a,b') }

/** The same in a URL: separated by commas, at least one. */
export const queriedIdsInUrl = z
  .string(noUsersNamed)
  .refine((text) => text !== '', noUsersNamed)
  .transform((text, context) => checkedIds(text.split(','), rule(IDS_PER_QUERY_MAX), context))
  .meta({
    ...idListSchema(IDS_PER_QUERY_MAX),
    // Without maxLength: tools that try limits would send a thousand of the longest ids, which no URL can hold.
    items: { type: 'string', pattern: ID_SCHEMA.pattern, description: ID_SCHEMA.description },
    minItems: 1,
    description: 'Ids separated by commas. Repeated parameters are joined to one list',
  })

/** Whether a parameter may be repeated, as one list. */
export const isListInUrl = (parameter: z.ZodType): boolean => parameter.meta()?.type === 'array'

const NO_USER_NAMED = said('bad_request', 'name the user: ?user_id=a')

export const explainedUserId = z
  .string({ error: NO_USER_NAMED })
  .refine(isId, { error: NOT_AN_ID })
  .meta({ ...ID_SCHEMA, description: 'The user that is seen', examples: ['alice'] })

export const viewerId = userId.optional().meta({
  description: 'Only with a server key: the answer as this user sees it. Without it, unfiltered',
})

export const ISO_8601 = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/

/** Date parsers accept the 31st of February as a day in March. */
export function isCalendarDate(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number)
  const date = new Date(Date.UTC(year!, month! - 1, day!))
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day && !Number.isNaN(Date.parse(text))
}

/** Unix milliseconds from a number or an ISO 8601 string, of the years 1970 to 9999; absent and null mean none. */
export function futureInstant(name: string, description: string) {
  // Also on both members: a union reports its own error only when the value has neither type.
  const notAnInstant = {
    error: said('invalid_expiry', `${name} is Unix milliseconds or an ISO 8601 instant`),
  }
  return z
    .union(
      [
        z.int(notAnInstant).meta(EXPIRY_MS_SCHEMA),
        z.string().regex(ISO_8601, notAnInstant).meta(EXPIRY_TEXT_SCHEMA),
      ],
      notAnInstant,
    )
    .refine((value) => typeof value === 'number' || isCalendarDate(value), {
      error: said('invalid_expiry', `${name} is a day or a time that does not exist`),
      abort: true,
    })
    .transform((value) => (typeof value === 'number' ? value : Date.parse(value)))
    .refine((at) => at > 0 && at <= INSTANT_MAX, {
      error: said('invalid_expiry', `${name} is not in the years 1970 to 9999`),
    })
    .nullish()
    .transform((at) => at ?? null)
    .meta({
      description:
        `Unix milliseconds or ISO 8601; ${description}. It must be in the future when the request arrives, ` +
        'which a schema cannot say: an instant in the past is refused with `invalid_expiry`',
    })
}

const expiry = futureInstant('expires_at', 'null or absent for never')

const CHOICES_EXPIRE_AT = '2099-12-31T17:00:00Z'

export const availabilityBody = z
  .object({
    status: z
      .enum(AVAILABILITY_CHOICES, {
        error: said('invalid_status', `status is one of ${AVAILABILITY_CHOICES.join(', ')}`),
      })
      .meta({ description: 'auto and online both return to automatic' }),
    expires_at: expiry,
  })
  .meta({ examples: [{ status: 'busy', expires_at: CHOICES_EXPIRE_AT }, { status: 'online' }] })
  .transform(({ status, expires_at }): { status: Availability; expiresAt: number | null } => ({
    status: status === 'online' ? 'auto' : status,
    expiresAt: expires_at,
  }))

// Databases cannot store the null character: SQLite drops it and PostgreSQL refuses the whole batch.
export const isWellFormed = (text: string) => text.isWellFormed() && !text.includes('\0')
const malformed = {
  error: said('bad_request', 'text and emoji must be well-formed Unicode without null characters'),
}
const notText = { error: said('bad_request', 'text and emoji are strings or null') }
const orNothing = (text: string | null | undefined) => (text ? text : null)

export const customText = z
  .string(notText)
  .refine(isWellFormed, malformed)
  .refine((text) => text.length <= CUSTOM_TEXT_CHARS_MAX || [...text].length <= CUSTOM_TEXT_CHARS_MAX, {
    error: said('text_too_long', `text has at most ${CUSTOM_TEXT_CHARS_MAX} characters`),
  })
  .meta(TEXT_SCHEMA)

export const customEmoji = z
  .string(notText)
  .refine(isWellFormed, malformed)
  .refine((emoji) => utf8Length(emoji) <= CUSTOM_EMOJI_BYTES_MAX, {
    error: said('text_too_long', `emoji has at most ${CUSTOM_EMOJI_BYTES_MAX} bytes`),
  })
  .meta(EMOJI_SCHEMA)

export const customStatusBody = z
  .object({
    text: customText.nullish().transform(orNothing),
    emoji: customEmoji.nullish().transform(orNothing),
    expires_at: expiry,
  })
  .meta({ examples: [{ text: 'In a meeting', emoji: '📅', expires_at: CHOICES_EXPIRE_AT }] })
  .transform(({ text, emoji, expires_at }) => ({ text, emoji, expiresAt: expires_at }))

const NO_ACTIVITY = said('bad_request', 'activity is active or idle')

export const activity = z.enum(ACTIVITIES, { error: NO_ACTIVITY }).meta({ id: 'Activity' })

export const platform = z
  .enum(PLATFORMS, { error: said('bad_request', `platform is one of ${PLATFORMS.join(', ')}`) })
  .meta({ id: 'Platform' })

export const deviceId = userId.meta({
  description: `The device; stable across reconnects. ${ID_SCHEMA.description}`,
  examples: ['phone'],
})

export const heartbeatBody = z
  .object({
    device_id: deviceId,
    platform: platform.default('other'),
    activity: activity.optional(),
    activity_type: activity.optional().meta({ description: 'Another name for activity' }),
  })
  .meta({
    anyOf: [{ required: ['activity'] }, { required: ['activity_type'] }],
    examples: [{ device_id: 'phone', platform: 'mobile', activity: 'active' }],
  })
  .transform(({ activity_type: byOtherName, ...body }, context) => {
    const chosen = body.activity ?? byOtherName
    if (chosen !== undefined) return { ...body, activity: chosen }
    context.addIssue(NO_ACTIVITY)
    return z.NEVER
  })

export const leaveBody = z.object({ device_id: deviceId }).meta({ examples: [{ device_id: 'phone' }] })

export const queryBody = z
  .object({ user_ids: queriedIds, viewer_id: viewerId })
  .meta({ examples: [{ user_ids: ['alice', 'bob'] }] })

export const idsFrame = z.object({ user_ids: userIds })

const notVersions = { error: said('bad_request', 'known maps ids to versions') }

export const watchFrame = z.object({
  user_ids: userIds,
  known: z.record(z.string(), z.number(notVersions), notVersions).default({}),
})

export function parse<T>(schema: z.ZodType<T>, value: unknown): Parsed<T> {
  const result = schema.safeParse(value)
  return result.success ? { ok: true, value: result.data } : { ok: false, failure: failureOf(result.error) }
}

function failureOf(error: z.ZodError): Failure {
  const issue = error.issues[0]!
  const [code, sentence] = split(issue.message)
  const where = issue.path.join('.')
  if (code in ERRORS && sentence !== undefined) {
    // The rule is shared by many fields; the path tells which field broke it.
    const message = code === 'invalid_id' && where !== '' ? `${where}: ${sentence}` : sentence
    return { code: code as ErrorCode, message }
  }
  return { code: 'bad_request', message: `${where === '' ? 'the body' : where}: ${issue.message}` }
}

function split(message: string): [string, string | undefined] {
  const colon = message.indexOf(': ')
  return colon === -1 ? [message, undefined] : [message.slice(0, colon), message.slice(colon + 2)]
}
