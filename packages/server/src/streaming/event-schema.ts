// The events of our own gateways, as they are read back from the log: every event but `settings_found`, which a tracker
// makes itself. A record that does not have this shape never reaches the state machine.
import {
  ACTIVITIES,
  AUDIENCES,
  AVAILABILITY_CHOICES,
  LAST_SEEN_PRECISIONS,
  PLATFORMS,
} from '@greendot/protocol'
import { z } from 'zod'

const id = z.string().min(1)
const at = z.number()
const instantOrNull = z.number().nullable()
const textOrNull = z.string().nullable()

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

const privacy = z.strictObject({
  statusVisibility: z.enum(AUDIENCES),
  lastSeenVisibility: z.enum(AUDIENCES),
  reciprocal: z.boolean(),
  lastSeenPrecision: z.enum(LAST_SEEN_PRECISIONS),
  allow: z.array(id),
  deny: z.array(id),
  setAt: at,
})

const AVAILABILITIES = AVAILABILITY_CHOICES.filter((choice) => choice !== 'online')

export const presenceEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('connected'), ...session }),
  z.object({ type: z.literal('active'), ...session }),
  z.object({ type: z.literal('idle'), ...session }),
  z.object({ type: z.literal('left'), at, sessionId: id }),
  z.object({ type: z.literal('device_left'), at, deviceId: id }),
  z.object({ type: z.literal('user_left'), at }),
  z.object({ type: z.literal('closed'), at, sessionId: id }),
  z.object({ type: z.literal('lost'), at, sessionId: id, provenAt: at }),
  z.object({ type: z.literal('gateway_lost'), at, gatewayId: id, provenAt: at }),
  z.object({ type: z.literal('raise_version'), version: z.number() }),
  z.object({
    type: z.literal('set_availability'),
    at,
    status: z.enum(AVAILABILITIES),
    expiresAt: instantOrNull,
  }),
  z.object({
    type: z.literal('set_custom_status'),
    at,
    text: textOrNull,
    emoji: textOrNull,
    expiresAt: instantOrNull,
  }),
  z.object({ type: z.literal('set_away_after'), at, awayAfterMs: instantOrNull }),
  z.object({ type: z.literal('set_history'), at, isKept: z.boolean() }),
  z.object({ type: z.literal('set_privacy'), at, change: privacy.partial() }),
  z.object({ type: z.literal('unlist'), at, userId: id }),
  z.object({ type: z.literal('contacts_changed'), at }),
  z.object({ type: z.literal('doubted') }),
  z.object({ type: z.literal('tick') }),
])
