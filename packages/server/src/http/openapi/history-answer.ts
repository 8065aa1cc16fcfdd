// The answers about history, as schemas; see answers.ts.
import { z } from 'zod'
import { platform } from '../../input/schemas.ts'
import type { AllHistory, UserHistory } from '../../presence/people/history-view.ts'
import { json } from '../route.ts'
import { instant, userId } from './answers.ts'

const count = z.int().min(0)
export const presentStatus = z.enum(['online', 'away', 'busy'])
const minutes = { online_minutes: count, away_minutes: count, busy_minutes: count }
const hour = instant.meta({ description: 'When the hour begins, in Unix milliseconds' })
const covered = {
  from: instant.meta({ description: 'Where the answer begins: no earlier than what is kept' }),
  to: instant.meta({
    description: 'Where the answer ends: not after now, and earlier than asked where it would be too long',
  }),
}

export const userHistory = json(
  z
    .object({
      user_id: userId,
      ...covered,
      intervals: z
        .array(z.object({ status: presentStatus, from: instant, to: instant, devices: z.array(platform) }))
        .meta({ description: 'Oldest first. Between them the user was shown as offline' }),
      sessions: z
        .array(z.object({ from: instant, to: instant }))
        .meta({ description: 'Times without a gap, whatever the status' }),
      days: z
        .array(
          z.object({
            day: z.string().meta({ description: 'A day of UTC', examples: ['2030-01-01'] }),
            ...minutes,
            first_seen: instant,
            last_seen: instant,
          }),
        )
        .meta({ description: 'Days without presence are left out' }),
      hours: z
        .array(z.object({ hour, ...minutes }))
        .meta({ description: 'Hours without presence are left out' }),
    })
    .meta({ id: 'UserHistory' }) satisfies z.ZodType<UserHistory>,
  'The history of the user, as shown to others: invisible time is offline',
)

export const allHistory = json(
  z
    .object({
      ...covered,
      hours: z
        .array(z.object({ hour, ...minutes, users: count }))
        .meta({ description: 'Minutes of all users together. Hours without presence are left out' }),
    })
    .meta({ id: 'AllHistory' }) satisfies z.ZodType<AllHistory>,
  'The hours of all users who allow a history',
)
