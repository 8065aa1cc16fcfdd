// Between the archive's rows and the hot record of somebody who is not here. The archive keeps
// what others saw and what the person chose; sessions are soft state and never come back from it.
import type { ArchivedUser, HereDevice, LastSeenRow, SettingsRow } from '../../archive/port.ts'
import { emptyRecord, type Session, type ShownCustomStatus, type UserRecord } from '../core/record.ts'

const VERSION_EPOCH_AT = Date.UTC(2025, 0, 1)

/**
 * Versions only ever grow, even when the hot state that counted them is lost. A count that starts
 * from nothing therefore starts at the present millisecond: nobody changes once a millisecond for as
 * long as they live, so that is above every version they have ever been shown with.
 */
export function freshVersion(now: number): number {
  return now - VERSION_EPOCH_AT
}

export function fromArchive(user: ArchivedUser, now: number): UserRecord {
  const { lastSeen, settings } = user
  const record = emptyRecord(versionOf(lastSeen, now))
  return {
    ...record,
    availability: settings?.availability ?? null,
    customStatus: settings?.customStatus ?? null,
    awayAfter: settings?.awayAfter ?? null,
    privacy: settings?.privacy ?? null,
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

// The row of somebody who was here at a crash shows what they showed when it was written; what had
// expired by the time it was mended is not to be seen again.
function stillShown({ shownCustomStatus: shown, updatedAt }: LastSeenRow): ShownCustomStatus | null {
  return shown !== null && shown.expiresAt !== null && shown.expiresAt <= updatedAt ? null : shown
}

// The row of somebody who is away from here holds the last version shown. That of somebody who was
// here is older: what was shown after it went with the hot record.
function versionOf(row: LastSeenRow | null, now: number): number {
  if (row === null) return freshVersion(now)
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
  const { availability, customStatus, awayAfter, privacy } = record
  return { userId, availability, customStatus, awayAfter, privacy }
}
