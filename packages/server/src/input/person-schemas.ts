// Schemas of requests about a user: their settings, and the contact lists the app manages.
import {
  AUDIENCES,
  type Audience,
  LAST_SEEN_PRECISIONS,
  type LastSeenPrecision,
  utf8Length,
} from '@greendot/protocol'
import { z } from 'zod'
import { LISTED_BYTES_MAX, LISTED_MAX, type Privacy } from '../presence/core/privacy.ts'
import type { SettingsChange } from '../presence/people/actions.ts'
import { idList, said, userIds } from './schemas.ts'

export const AWAY_AFTER_MS_MAX = 7 * 86_400_000

const audience = z
  .enum(AUDIENCES, { error: said('bad_request', `an audience is one of ${AUDIENCES.join(', ')}, or null`) })
  .nullish()
  .meta({ description: "null returns to the server's default" })

/** The lists are sent with every change of their user, so their length is limited. */
export const listedIds = (name: string) =>
  idList({ name, max: LISTED_MAX, tooMany: `${name} has at most ${LISTED_MAX} users` }).refine(
    (ids) => ids.reduce((bytes, id) => bytes + utf8Length(id), 0) <= LISTED_BYTES_MAX,
    { error: said('too_many_ids', `the ids in ${name} have at most ${LISTED_BYTES_MAX} bytes together`) },
  )

interface SettingsBody {
  status_visibility?: Audience | null | undefined
  last_seen_visibility?: Audience | null | undefined
  reciprocal?: boolean | undefined
  last_seen_precision?: LastSeenPrecision | undefined
  allow?: string[] | undefined
  deny?: string[] | undefined
  away_after_ms?: number | null | undefined
  history?: boolean | undefined
}

const awayAfterMessage = said(
  'bad_request',
  `away_after_ms is 1 to ${AWAY_AFTER_MS_MAX} whole milliseconds, or null`,
)

export const settingsBody = z
  .object({
    status_visibility: audience,
    last_seen_visibility: audience,
    reciprocal: z.boolean({ error: said('bad_request', 'reciprocal is true or false') }).optional(),
    last_seen_precision: z
      .enum(LAST_SEEN_PRECISIONS, {
        error: said('bad_request', `last_seen_precision is one of ${LAST_SEEN_PRECISIONS.join(', ')}`),
      })
      .optional(),
    allow: listedIds('allow').optional(),
    deny: listedIds('deny').optional(),
    away_after_ms: z
      .int({ error: awayAfterMessage })
      .min(1, { error: awayAfterMessage })
      .max(AWAY_AFTER_MS_MAX, { error: awayAfterMessage })
      .nullish()
      .meta({ description: "null returns to the server's default" }),
    history: z
      .boolean({ error: said('bad_request', 'history is true or false') })
      .optional()
      .meta({ description: 'Whether a history may be kept; false deletes what was kept' }),
  })
  .meta({ examples: [{ status_visibility: 'contacts', deny: ['mallory'] }, { away_after_ms: 600_000 }] })
  .transform(toChange)

/** Fields that were not sent stay unchanged. */
function toChange(body: SettingsBody): SettingsChange {
  const privacy: Partial<Privacy> = {}
  if (body.status_visibility !== undefined) privacy.statusVisibility = body.status_visibility
  if (body.last_seen_visibility !== undefined) privacy.lastSeenVisibility = body.last_seen_visibility
  if (body.reciprocal !== undefined) privacy.reciprocal = body.reciprocal
  if (body.last_seen_precision !== undefined) privacy.lastSeenPrecision = body.last_seen_precision
  if (body.allow !== undefined) privacy.allow = [...new Set(body.allow)]
  if (body.deny !== undefined) privacy.deny = [...new Set(body.deny)]
  return { privacy, awayAfterMs: body.away_after_ms, keepsHistory: body.history }
}

export const contactsBody = z
  .object({ user_ids: userIds })
  .meta({ examples: [{ user_ids: ['bob', 'carol'] }] })
