// Between the archive's rows and the hot record of somebody who is not here. The archive keeps
// what others saw and what the person chose; sessions are soft state and never come back from it.
import type { ArchivedUser, LastSeenRow, SettingsRow } from '../archive/port.ts'
import { emptyRecord, type UserRecord } from './record.ts'

const VERSION_EPOCH_AT = Date.UTC(2025, 0, 1)

/**
 * Versions only ever grow, even when the hot state that counted them is lost. New counts therefore
 * start at the second in which the store was born: nobody changes once a second for all their life,
 * so that is above every version any earlier store has shown.
 */
export function versionFloor(bornAt: number): number {
  return Math.floor((bornAt - VERSION_EPOCH_AT) / 1000)
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
            customStatus: lastSeen.shownCustomStatus,
            devices: [],
          },
    lastSeen: lastSeen?.lastSeenAt ?? null,
    // Expiries that passed since the row was written are still to take effect.
    settledAt: lastSeen?.updatedAt ?? 0,
  }
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
