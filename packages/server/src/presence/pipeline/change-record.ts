// What the change log says of a commit: one record for each version of a user, with what others are shown, and one when
// only the audience of the user has changed. One that changes both says so. An invisible user is shown offline, so the log does not know of invisible
// time.
import { RECORD_VERSION, type StatusChangedRecord, type VisibilityChangedRecord } from '@greendot/protocol'
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
  if (after.settings === 'unknown') return undefined
  if (after.version === before.version)
    return hasNewAudience(change) ? audienceRecordOf(userId, now) : undefined
  const former = toPresence(userId, before)
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
    ...(!isSame(former.devices, devices) && { old_devices: former.devices }),
    ...(!isSame(former.custom_status, custom_status) && { old_custom_status: former.custom_status }),
    ...(hasNewAudience(change) && { audience_changed: true }),
    ...(after.history?.isKept && { history: true }),
  }
  return JSON.stringify(record)
}

/** Settings that were unknown are known now, or the user or the app edited them. */
const hasNewAudience = ({ before, after }: VersionChange): boolean =>
  before.settings !== after.settings ||
  before.privacy !== after.privacy ||
  before.contactsAt !== after.contactsAt

function audienceRecordOf(userId: string, at: number): string {
  const record: VisibilityChangedRecord = {
    type: 'visibility_changed',
    v: RECORD_VERSION,
    user_id: userId,
    at,
  }
  return JSON.stringify(record)
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
