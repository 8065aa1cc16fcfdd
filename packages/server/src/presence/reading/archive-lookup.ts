// Records of users that the hot store does not hold, made from the archive's rows. When the archive does
// not answer, a user may still connect with an empty record; users with settings of their own are kept in
// the hot store, so an outage of the archive does not make them visible.
import type { Archive, ArchivedUser } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { UserRecord } from '../core/record.ts'
import { Unavailable } from '../unavailable.ts'
import { fromArchive } from './archived-user.ts'

const NO_ROWS: ArchivedUser = { lastSeen: null, settings: null }

export interface ArchivedRecord {
  record: UserRecord
  /** False for a user without rows, or when the archive could not be asked. */
  isKnown: boolean
  /** The archive could not be asked: settings chosen before are not in the record. */
  isUnread: boolean
  /** Whether the user was shown as present when the row was written. */
  wasHere: boolean
  /** The version in the row, however old; 0 without one. */
  archivedVersion: number
}

export interface ArchiveLookup {
  /** In the order asked. Empty records, marked unread, when the archive does not answer. */
  loadOrEmpty(userIds: readonly string[]): Promise<ArchivedRecord[]>
  /** In the order asked. Fails when the archive does not answer. */
  loadOrFail(userIds: readonly string[]): Promise<ArchivedRecord[]>
}

export function createArchiveLookup(archive: Archive, clock: Clock, logger: Logger): ArchiveLookup {
  let isFailing = false

  function toRecord(user: ArchivedUser, now: number, isUnread = false): ArchivedRecord {
    return {
      isUnread,
      record: fromArchive(user, now),
      isKnown: user.lastSeen !== null || user.settings !== null,
      wasHere: user.lastSeen?.status === 'here',
      archivedVersion: user.lastSeen?.version ?? 0,
    }
  }

  async function loadOrFail(userIds: readonly string[]): Promise<ArchivedRecord[]> {
    const users = await archive.read(userIds).catch((error: unknown) => {
      throw new Unavailable('the archive does not answer', { cause: error })
    })
    isFailing = false
    const now = clock.now()
    return users.map((user) => toRecord(user, now))
  }

  return {
    loadOrFail,
    async loadOrEmpty(userIds) {
      try {
        return await loadOrFail(userIds)
      } catch (error) {
        if (!isFailing)
          logger.error(
            { err: error },
            'the archive cannot be read; users start with empty records until it can',
          )
        isFailing = true
        const now = clock.now()
        return userIds.map(() => toRecord(NO_ROWS, now, true))
      }
    },
  }
}
