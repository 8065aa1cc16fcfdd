// What the change log says of a commit: one record for each version of a user, with what others are shown. An
// invisible user is shown offline, so the log does not know of invisible time.
import { RECORD_VERSION, type StatusChangedRecord } from '@greendot/protocol'
import type { UserRecord } from '../core/record.ts'
import { toPresence } from '../core/view.ts'

export interface VersionChange {
  userId: string
  before: UserRecord
  after: UserRecord
}

/** Undefined where nothing that others are shown has changed, or where it is not known yet what they may be shown. */
export function changeRecordOf(change: VersionChange, now: number): string | undefined {
  const { userId, before, after } = change
  if (after.version === before.version || after.settings === 'unknown') return undefined
  const { status, custom_status, devices } = toPresence(userId, after)
  const record: StatusChangedRecord = {
    type: 'status_changed',
    v: RECORD_VERSION,
    user_id: userId,
    old_status: before.shown.status,
    new_status: status ?? 'offline',
    version: after.version,
    at: now,
    devices,
    custom_status,
    ...(after.history?.isKept && { history: true }),
  }
  return JSON.stringify(record)
}
