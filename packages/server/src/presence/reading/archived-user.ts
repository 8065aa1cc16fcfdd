// Converts between the archive's rows and the hot record of a user. The archive keeps what others saw and what
// the user chose; sessions are soft state and never come back from it.
import type { ArchivedUser, HereDevice, LastSeenRow, SettingsRow } from '../../archive/port.ts'
import { emptyRecord, type Session, type ShownCustomStatus, type UserRecord } from '../core/record.ts'
import { freshVersion, NO_VERSION } from '../core/version.ts'

export function fromArchive(user: ArchivedUser, now: number): UserRecord {
  const { lastSeen, settings } = user
  const record = emptyRecord(versionOf(lastSeen, now))
  return {
    ...record,
    availability: settings?.availability ?? null,
    customStatus: settings?.customStatus ?? null,
    awayAfter: settings?.awayAfter ?? null,
    privacy: settings?.privacy ?? null,
    history: settings?.history ?? null,
    shown:
      lastSeen === null
        ? record.shown
        : {
            status: 'offline',
            since: lastSeen.lastSeenAt ?? lastSeen.updatedAt,
            lastSeen: lastSeen.lastSeenAt,
            customStatus: stillShown(lastSeen),
            devices: [],
          },
    lastSeen: lastSeen?.lastSeenAt ?? null,
    // Expiries that passed since the row was written are still to take effect.
    settledAt: lastSeen?.updatedAt ?? 0,
  }
}

// The row of a user who was present at a crash holds the custom status of when it was written. If that had
// expired by the time the row was repaired, it is not shown again.
function stillShown({ shownCustomStatus: shown, updatedAt }: LastSeenRow): ShownCustomStatus | null {
  return shown !== null && shown.expiresAt !== null && shown.expiresAt <= updatedAt ? null : shown
}

// The row of an offline user holds the last version shown. The row of a user who was present is older: later
// versions were in the hot record that was lost, so the version is a fresh one. A user without a row has no version
// until the first change: a version by the time of this read would tell others that a viewer asked, and when (S6,
// decision 23: content).
function versionOf(row: LastSeenRow | null, now: number): number {
  if (row === null) return NO_VERSION
  return row.status === 'offline' ? row.version : Math.max(row.version, freshVersion(now))
}

export function toLastSeenRow(userId: string, record: UserRecord, now: number): LastSeenRow {
  const { shown } = record
  return {
    userId,
    lastSeenAt: shown.lastSeen,
    status: shown.status === 'offline' ? 'offline' : 'here',
    devices: shown.status === 'offline' ? [] : record.sessions.map(toHereDevice),
    version: record.version,
    shownCustomStatus: shown.customStatus,
    updatedAt: now,
  }
}

const toHereDevice = ({ deviceId, platform, activity }: Session): HereDevice => ({
  deviceId,
  platform,
  activity,
})

export function toSettingsRow(userId: string, record: UserRecord): SettingsRow {
  const { availability, customStatus, awayAfter, privacy, history } = record
  return { userId, availability, customStatus, awayAfter, privacy, history }
}
