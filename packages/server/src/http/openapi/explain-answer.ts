// The answer of /api/v1/explain, as a schema; see answers.ts.
import { PLATFORMS, STATUSES } from '@greendot/protocol'
import { z } from 'zod'
import { activity } from '../../input/schemas.ts'
import type { Explanation } from '../../presence/explain/explain.ts'
import { VIEW_LEVELS } from '../../presence/privacy/visibility.ts'
import { json } from '../route.ts'
import { customStatus, degraded, instant, presenceFields, settingsFields } from './answers.ts'

const RULES = [
  'server_key',
  'self',
  'allowed',
  'everyone',
  'contact',
  'denied',
  'not_a_contact',
  'nobody',
  'not_shown_back',
  'status_hidden',
] as const

const ruling = z.object({ visible: z.boolean(), rule: z.enum(RULES) }).meta({ id: 'Ruling' })
const chosen = { expires_at: instant.nullable(), set_at: instant, is_expired: z.boolean() }
const status = z.enum(STATUSES)
const { away_after_ms: awayAfterMs, history: _, ...privacy } = settingsFields

const session = z.object({
  session_id: z.string(),
  device_id: z.string(),
  platform: z.enum(PLATFORMS),
  gateway_id: z.string(),
  state: z.enum(['live', 'closed', 'lost']),
  activity,
  vote: z.enum(['active', 'idle', 'lingering', 'gone']),
  vote_changes_at: instant.nullable(),
})

const schema = z
  .object({
    answer: z.object(presenceFields).meta({ description: 'Exactly what this viewer gets' }),
    because: z.array(z.string()).meta({ description: 'Plain sentences in the order of the decision' }),
    details: z.object({
      sessions: z.array(session),
      raw_status: status.meta({ description: 'What the devices alone say' }),
      here: z.enum(['absent', 'arriving', 'here']),
      shown: z.object({
        status,
        since: instant.nullable(),
        last_seen: instant.nullable(),
        custom_status: customStatus.nullable(),
        devices: z.array(z.enum(PLATFORMS)),
      }),
      availability: z.object({ status: z.enum(['auto', 'away', 'busy', 'invisible']), ...chosen }).nullable(),
      custom_status: z
        .object({ text: z.string().nullable(), emoji: z.string().nullable(), ...chosen })
        .nullable(),
      privacy: z.object(privacy),
      rulings: z.object({ status: ruling, last_seen: ruling }),
      sight: z.enum(VIEW_LEVELS),
      pending: z.object({ status, at: instant }).nullable(),
      next_deadline_at: instant.nullable(),
      away_after_ms: awayAfterMs,
      version: z.int(),
    }),
  })
  .meta({ id: 'Explanation' }) satisfies z.ZodType<Explanation>

export const explanation = json(schema, 'The answer and how it came about', degraded)
