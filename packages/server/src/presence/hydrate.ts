// Between the archive's rows and the hot record of somebody who is not here. The archive keeps
// what others saw and what the person chose; sessions are soft state and never come back from it.
import type { ArchivedUser, LastSeenRow, SettingsRow } from '../archive/port.ts'
import { emptyRecord, type ShownCustomStatus, type UserRecord } from './record.ts'

const VERSION_EPOCH_AT = Date.UTC(2025, 0, 1)

/**
 * Versions only ever grow, even when the hot state that counted them is lost. New counts therefore
 * start at the millisecond in which the store was born: nobody changes once a millisecond for as long
 * as a store lives, so that is above every version any earlier store has shown.
 */
export function versionFloor(bornAt: number): number {
  return bornAt - VERSION_EPOCH_AT
}

export function fromArchive(user: ArchivedUser, floor: number): UserRecord {
  const { lastSeen, settings } = user
  const record = emptyRecord(lastSeen?.version ?? floor)
  return {
    ...record,
    availability: settings?.availability ?? null,
    customStatus: settings?.customStatus ?? null,
    awayAfter: settings?.awayAfter ?? null,
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

export function isArchived(user: ArchivedUser): boolean {
  return user.lastSeen !== null || user.settings !== null
}

export function toLastSeenRow(userId: string, record: UserRecord, now: number): LastSeenRow {
  const { shown } = record
  return {
    userId,
    lastSeenAt: shown.lastSeen,
    status: shown.status === 'offline' ? 'offline' : 'here',
    version: record.version,
    shownCustomStatus: shown.customStatus,
    updatedAt: now,
  }
}

export function toSettingsRow(userId: string, record: UserRecord): SettingsRow {
  const { availability, customStatus, awayAfter } = record
  return { userId, availability, customStatus, awayAfter }
}
