// The events of our own gateways, as they are read back from the log: every event but `settings_found`, which a tracker
// makes itself. Others can write to the topic too, so the rules of requests hold here again. A record that breaks one
// never reaches the state machine, the store or SQL.
import {
  ACTIVITIES,
  AUDIENCES,
  AVAILABILITY_CHOICES,
  isId,
  LAST_SEEN_PRECISIONS,
  PLATFORMS,
} from '@greendot/protocol'
import { z } from 'zod'
import { INSTANT_MAX } from '../input/json-schema.ts'
import { AWAY_AFTER_MS_MAX, listedIds } from '../input/person-schemas.ts'
import { customEmoji, customText } from '../input/schemas.ts'
import { VERSION_MAX } from '../presence/core/version.ts'

const NOT_AN_ID = { error: 'not a valid id' }

export const id = z.string(NOT_AN_ID).refine(isId, NOT_AN_ID)
/** Unix milliseconds. */
export const instant = z.int().min(0).max(INSTANT_MAX)
const at = instant
const instantOrNull = instant.nullable()

const session = {
  at,
  activity: z.enum(ACTIVITIES),
  sessionId: id,
  deviceId: id,
  platform: z.enum(PLATFORMS),
  gatewayId: id,
  connectedAt: at,
  lastActiveAt: at,
  again: z.object({ since: at, formerIds: z.array(id) }).optional(),
}

const ended = { at, sessionId: id, deviceId: id.optional(), platform: z.enum(PLATFORMS).optional() }

const privacy = z.strictObject({
  // Null is the server's default.
  statusVisibility: z.enum(AUDIENCES).nullable(),
  lastSeenVisibility: z.enum(AUDIENCES).nullable(),
  reciprocal: z.boolean(),
  lastSeenPrecision: z.enum(LAST_SEEN_PRECISIONS),
  allow: listedIds('allow'),
  deny: listedIds('deny'),
  setAt: at,
})

const AVAILABILITIES = AVAILABILITY_CHOICES.filter((choice) => choice !== 'online')

export const presenceEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('connected'), ...session }),
  z.object({ type: z.literal('active'), ...session }),
  z.object({ type: z.literal('idle'), ...session }),
  z.object({ type: z.literal('left'), ...ended }),
  z.object({ type: z.literal('device_left'), at, deviceId: id }),
  z.object({ type: z.literal('user_left'), at }),
  z.object({ type: z.literal('closed'), ...ended }),
  z.object({ type: z.literal('lost'), ...ended, provenAt: at }),
  z.object({ type: z.literal('gateway_lost'), at, gatewayId: id, provenAt: at }),
  z.object({ type: z.literal('raise_version'), version: z.int().min(0).max(VERSION_MAX) }),
  z.object({
    type: z.literal('set_availability'),
    at,
    status: z.enum(AVAILABILITIES),
    expiresAt: instantOrNull,
  }),
  z.object({
    type: z.literal('set_custom_status'),
    at,
    text: customText.nullable(),
    emoji: customEmoji.nullable(),
    expiresAt: instantOrNull,
  }),
  z.object({
    type: z.literal('set_away_after'),
    at,
    awayAfterMs: z.int().min(1).max(AWAY_AFTER_MS_MAX).nullable(),
  }),
  z.object({ type: z.literal('set_history'), at, isKept: z.boolean() }),
  z.object({ type: z.literal('set_privacy'), at, change: privacy.partial() }),
  z.object({ type: z.literal('unlist'), at, userId: id }),
  z.object({ type: z.literal('contacts_changed'), at }),
  z.object({ type: z.literal('doubted') }),
  z.object({ type: z.literal('tick') }),
])
