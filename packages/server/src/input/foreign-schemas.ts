// Schemas of what foreign gateways and backends say about sessions. The entries of a batch are checked one by one,
// because a bad one must not hold up the others, and by hand, because there are thousands.
import {
  ACTIVITIES,
  type Activity,
  type Failure,
  FOREIGN_ENTRIES_MAX,
  isId,
  PLATFORMS,
  type Platform,
  REASON_CHARS_MAX,
} from '@greendot/protocol'
import { z } from 'zod'
import type { ForeignDevice, ForeignSession } from '../foreign/batch.ts'
import { ANSWERED_ID_SCHEMA, ID_SCHEMA, INSTANT_MAX, TEXT_SCHEMA } from './json-schema.ts'
import {
  deviceId,
  futureInstant,
  ISO_8601,
  isCalendarDate,
  isWellFormed,
  type Parsed,
  said,
  userId,
} from './schemas.ts'

type Entry = Readonly<Record<string, unknown>>

const DEVICE_FIELDS = ['user_id', 'device_id']
const SESSION_FIELDS = [...DEVICE_FIELDS, 'platform', 'activity', 'activity_type', 'at']

/** An entry of `sessions`. */
export function parseForeignSession(value: unknown): Parsed<ForeignSession> {
  const device = parseDevice(value, SESSION_FIELDS)
  if (!device.ok) return device
  const { platform = 'other', activity, activity_type: byOtherName, at } = value as Entry
  if (!PLATFORMS.includes(platform as Platform)) return bad(`platform is one of ${PLATFORMS.join(', ')}`)
  const chosen = activity === undefined ? byOtherName : activity
  // Both names are checked. Null is neither.
  const isOdd = [chosen, byOtherName === undefined ? chosen : byOtherName].some(
    (one) => !ACTIVITIES.includes(one as Activity),
  )
  if (isOdd) return bad('activity is active or idle')
  const instant = at === undefined || at === null ? null : instantOf(at)
  if (Number.isNaN(instant)) return bad('at is Unix milliseconds or an ISO 8601 instant')
  const { userId, deviceId } = device.value
  const session = {
    userId,
    deviceId,
    platform: platform as Platform,
    activity: chosen as Activity,
    at: instant,
  }
  return { ok: true, value: session }
}

/** An entry of `disconnected`. */
export const parseForeignDevice = (value: unknown): Parsed<ForeignDevice> => parseDevice(value, DEVICE_FIELDS)

function parseDevice(value: unknown, known: readonly string[]): Parsed<ForeignDevice> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad('an entry is an object')
  for (const name in value) if (!known.includes(name)) return bad(`an entry has only ${known.join(', ')}`)
  const { user_id: userId, device_id: deviceId } = value as Entry
  if (!isId(userId))
    return { ok: false, failure: { code: 'invalid_id', message: 'user_id is not a valid id' } }
  if (!isId(deviceId))
    return { ok: false, failure: { code: 'invalid_id', message: 'device_id is not a valid id' } }
  return { ok: true, value: { userId, deviceId } }
}

/** NaN for anything that is no instant. */
function instantOf(at: unknown): number {
  const isText = typeof at === 'string' && ISO_8601.test(at) && isCalendarDate(at)
  const value = isText ? Date.parse(at) : at
  return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= INSTANT_MAX
    ? (value as number)
    : Number.NaN
}

const bad = (message: string): { ok: false; failure: Failure } => ({
  ok: false,
  failure: { code: 'bad_request', message },
})

const idField = { type: 'string', ...ID_SCHEMA }
const deviceFields = { user_id: idField, device_id: idField }
const instant = { anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] }

/** The form of an entry for the OpenAPI document. An entry of another form is refused alone. */
function entries(name: string, properties: object, description: string) {
  return z
    .unknown()
    .refine((value) => Array.isArray(value), { error: said('bad_request', `${name} is a list`), abort: true })
    .transform((value) => value as readonly unknown[])
    .meta({
      type: 'array',
      maxItems: FOREIGN_ENTRIES_MAX,
      items: { type: 'object', properties, required: DEVICE_FIELDS, additionalProperties: false },
      description,
    })
}

const sessionFields = {
  ...deviceFields,
  platform: { enum: [...PLATFORMS], description: 'other where it is left out' },
  activity: { enum: [...ACTIVITIES] },
  activity_type: { enum: [...ACTIVITIES], description: 'Another name for activity' },
  at: { ...instant, description: 'When the session was known to be alive; now where it is left out' },
}

export const foreignBatchBody = z
  .object({
    gateway_id: userId.meta({
      description: `Your name for the connection server. ${ANSWERED_ID_SCHEMA.description}`,
      examples: ['chat-1'],
    }),
    sessions: entries('sessions', sessionFields, 'Sessions that are alive').default([]),
    disconnected: entries('disconnected', deviceFields, 'Sessions whose connection has closed').default([]),
  })
  .refine(({ sessions, disconnected }) => sessions.length + disconnected.length <= FOREIGN_ENTRIES_MAX, {
    error: said('too_many_ids', `at most ${FOREIGN_ENTRIES_MAX} entries a batch; send several`),
  })
  .meta({
    examples: [
      {
        gateway_id: 'chat-1',
        sessions: [{ user_id: 'alice', device_id: 'phone', platform: 'mobile', activity: 'active' }],
        disconnected: [{ user_id: 'bob', device_id: 'laptop' }],
      },
    ],
  })

const notAReason = {
  error: said('bad_request', 'reason is well-formed Unicode without null characters, or null'),
}

export const disconnectBody = z
  .object({
    device_id: deviceId.nullish().transform((id) => id ?? null),
    reason: z
      .string(notAReason)
      .refine(isWellFormed, notAReason)
      .refine((text) => text.length <= REASON_CHARS_MAX || [...text].length <= REASON_CHARS_MAX, {
        error: said('text_too_long', `reason has at most ${REASON_CHARS_MAX} characters`),
      })
      .meta(TEXT_SCHEMA)
      .nullish()
      .transform((text) => (text ? text : null)),
    until: futureInstant(
      'until',
      'until then tokens that were issued before this request are refused. Null or absent: they are not',
    ),
  })
  .meta({
    examples: [{ reason: 'Signed out everywhere', until: '2099-12-31T17:00:00Z' }, { device_id: 'phone' }],
  })
