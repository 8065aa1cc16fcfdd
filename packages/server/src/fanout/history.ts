// Writes the history: a consumer of the change log. Records without permission, of another kind or another version, and
// records that cannot be read are passed over. When the archive does not answer, the batch is rejected and comes again;
// the archive applies a record once.
import { PLATFORMS, RECORD_VERSION, STATUSES } from '@greendot/protocol'
import { z } from 'zod'
import type { Archive } from '../archive/port.ts'
import { userId } from '../input/schemas.ts'
import type { LogConsumer, LogEntry } from '../log/port.ts'
import type { Clock } from '../platform/clock.ts'
import { DAY_MS, type HistoryChange, keptSince } from '../presence/core/history.ts'

/** Most users have no history. This tells without parsing; the schema decides. */
const PERMISSION = '"history"'
/** Clocks differ by less. */
const AHEAD_MS_MAX = DAY_MS

const record = z.object({
  type: z.literal('status_changed'),
  v: z.literal(RECORD_VERSION),
  user_id: userId,
  new_status: z.enum(STATUSES),
  version: z.int().min(0),
  at: z.int().min(0),
  devices: z.array(z.enum(PLATFORMS)).max(PLATFORMS.length),
  history: z.literal(true),
})

export interface HistoryConsumerParts {
  archive: Archive
  historyDays: number
  clock: Pick<Clock, 'now'>
}

export function createHistoryConsumer({ archive, historyDays, clock }: HistoryConsumerParts): LogConsumer {
  return {
    async handle(_, entries) {
      const now = clock.now()
      const changes = entries.map(toChange).filter((change) => change !== null)
      const believable = changes.filter(({ at }) => at <= now + AHEAD_MS_MAX)
      if (believable.length > 0) await archive.history.write(believable, keptSince(historyDays, now))
    },
  }
}

function toChange({ text }: LogEntry): HistoryChange | null {
  if (!text.includes(PERMISSION)) return null
  const found = record.safeParse(parsed(text))
  if (!found.success) return null
  const { user_id, version, at, new_status, devices } = found.data
  return { userId: user_id, version, at, status: new_status, devices }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
