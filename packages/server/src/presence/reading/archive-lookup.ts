// Records of users that the hot store does not hold, made from the archive's rows. When the archive does
// not answer, a user may still connect, with a record whose settings are unknown: others see nothing of the user
// until the archive has answered. After a failure it is not asked for a moment, so that an outage costs few waits.
import type { Archive, ArchivedUser } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { isInvisible } from '../core/machine.ts'
import type { UserRecord } from '../core/record.ts'
import { freshVersion } from '../core/version.ts'
import { Unavailable } from '../unavailable.ts'
import { fromArchive } from './archived-user.ts'

/** After the archive failed it is not asked for this long. */
const PAUSE_MS = 1_000

const NO_ROWS: ArchivedUser = { lastSeen: null, settings: null }

export interface ArchivedRecord {
  /** The rows. */
  user: ArchivedUser
  record: UserRecord
  /** False for a user without rows, or when the archive could not be asked. */
  isKnown: boolean
  /** The archive could not be asked: settings chosen before are not in the record. */
  isUnread: boolean
  /** Whether the user was shown as present when the row was written, and did not become invisible since. */
  wasHere: boolean
  /** The version in the row, however old; 0 without one. */
  archivedVersion: number
}

export interface ArchiveLookup {
  /** In the order asked. Records with unknown settings, marked unread, when the archive does not answer. */
  loadOrUnknown(userIds: readonly string[]): Promise<ArchivedRecord[]>
  /** In the order asked. Fails when the archive does not answer. */
  loadOrFail(userIds: readonly string[]): Promise<ArchivedRecord[]>
}

export function createArchiveLookup(archive: Archive, clock: Clock, logger: Logger): ArchiveLookup {
  let isFailing = false
  let pausedUntil = 0

  function toRecord(user: ArchivedUser, now: number, isUnread = false): ArchivedRecord {
    const found = fromArchive(user, now)
    // Of a user who could not be read any version may have been shown, and what hides the user must be newer.
    const record: UserRecord = isUnread
      ? { ...found, settings: 'unknown', version: freshVersion(now) }
      : found
    return {
      user,
      isUnread,
      record,
      isKnown: user.lastSeen !== null || user.settings !== null,
      wasHere: user.lastSeen?.status === 'here' && !isInvisible(record, now),
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
    async loadOrUnknown(userIds) {
      const unread = () => {
        const now = clock.now()
        return userIds.map(() => toRecord(NO_ROWS, now, true))
      }
      if (clock.now() < pausedUntil) return unread()
      try {
        return await loadOrFail(userIds)
      } catch (error) {
        if (!isFailing)
          logger.error(
            { err: error },
            'the archive cannot be read; users that are not in the hot store are hidden until it can',
          )
        isFailing = true
        pausedUntil = clock.now() + PAUSE_MS
        return unread()
      }
    },
  }
}
