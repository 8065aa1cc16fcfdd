// The export of a user, as a schema; see answers.ts.
import { AUDIENCES, LAST_SEEN_PRECISIONS } from '@greendot/protocol'
import { z } from 'zod'
import { activity, platform } from '../../input/schemas.ts'
import type { Kept } from '../../presence/people/person-kept.ts'
import { json } from '../route.ts'
import {
  deviceId,
  idArray,
  instant,
  ownPresenceSchema,
  presenceFields,
  settingsSchema,
  userId,
} from './answers.ts'
import { presentStatus } from './history-answer.ts'

const expiring = {
  expires_at: instant.nullable(),
  set_at: instant.meta({ description: 'When it was set' }),
}
const audience = z
  .enum(AUDIENCES)
  .nullable()
  .meta({ description: "Null where it was left to the server's default" })

const session = z.object({
  session_id: z.string(),
  device_id: deviceId,
  platform,
  gateway_id: z.string(),
  activity,
  connected_at: instant,
  last_active_at: instant,
  state: z.enum(['live', 'closed', 'lost']),
  ended_at: instant.nullable().meta({ description: 'Null while it is live' }),
})

const kept = z
  .object({
    shown: z
      .object(presenceFields)
      .meta({ description: 'What viewers see who may see everything; differs while invisible' }),
    shown_since: instant.nullable().meta({ description: 'Since when the status is the one shown' }),
    last_seen: instant.nullable().meta({ description: 'The real one, also while invisible' }),
    sessions: z
      .array(session)
      .meta({ description: 'Includes sessions that ended a moment ago and still count' }),
    ended_sessions: z
      .array(z.object({ session_id: z.string(), ended_at: instant }))
      .meta({ description: 'Sessions remembered for two minutes, by id only' }),
    availability: z.object({ status: z.enum(['auto', 'away', 'busy', 'invisible']), ...expiring }).nullable(),
    custom_status: z
      .object({ text: z.string().nullable(), emoji: z.string().nullable(), ...expiring })
      .nullable(),
    away_after: z.object({ away_after_ms: z.int().nullable(), set_at: instant }).nullable(),
    privacy: z
      .object({
        status_visibility: audience,
        last_seen_visibility: audience,
        reciprocal: z.boolean(),
        last_seen_precision: z.enum(LAST_SEEN_PRECISIONS),
        allow: idArray,
        deny: idArray,
        set_at: instant.meta({ description: 'When any of it was last changed' }),
      })
      .nullable(),
    history: z.object({ kept: z.boolean(), set_at: instant }).nullable(),
  })
  .meta({
    id: 'KeptData',
    description: 'The stored data behind the rest; null for what was never set',
  }) satisfies z.ZodType<Kept>

export const personData = json(
  z
    .object({
      user_id: userId,
      exported_at: instant,
      presence: ownPresenceSchema,
      settings: settingsSchema,
      kept,
      contacts: idArray.meta({ description: 'Users on the list of this user' }),
      contact_of: idArray.meta({ description: 'Users who have this user on their list' }),
      history: z
        .array(
          z.object({
            status: presentStatus,
            from: instant,
            to: instant.nullable(),
            devices: z.array(platform),
          }),
        )
        .meta({ description: 'Empty where none is kept. `to` is null while it lasts' }),
      disconnects: z
        .array(
          z.object({
            device_id: deviceId.nullable(),
            at: instant,
            until: instant.nullable(),
            reason: z.string().nullable(),
          }),
        )
        .meta({
          description: 'Kept for ten minutes, and until `until`. `device_id` is null for all devices',
        }),
    })
    .meta({ id: 'PersonData' }),
  'All data of the user',
)
