// Remembers people from the archive: the record of somebody the hot store does not hold. When the
// archive is away nobody may be turned down, so they start afresh; people with settings of their own
// are kept hot, so it is not their invisibility that is forgotten.
import type { Archive, ArchivedUser } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { UserRecord } from '../core/record.ts'
import { Unavailable } from '../unavailable.ts'
import { fromArchive } from './hydrate.ts'

const NOBODY: ArchivedUser = { lastSeen: null, settings: null }

export interface Recalled {
  record: UserRecord
  /** False for somebody the archive has never heard of, or could not be asked about. */
  isKnown: boolean
  /** The archive could not be asked: what they chose before is not in the record. */
  isAfresh: boolean
  /** Whether they were here when their row was written. */
  wasHere: boolean
  /** The version in their row, however old; 0 without one. */
  archivedVersion: number
}

export interface Recall {
  /** In the order asked. When the archive is away everybody starts afresh. */
  orAfresh(userIds: readonly string[]): Promise<Recalled[]>
  /** In the order asked. Fails when the archive is away: for those who have nothing else to go by. */
  orFail(userIds: readonly string[]): Promise<Recalled[]>
}

export function createRecall(archive: Archive, clock: Clock, logger: Logger): Recall {
  let isFailing = false

  function toRecalled(user: ArchivedUser, now: number, isAfresh = false): Recalled {
    return {
      isAfresh,
      record: fromArchive(user, now),
      isKnown: user.lastSeen !== null || user.settings !== null,
      wasHere: user.lastSeen?.status === 'here',
      archivedVersion: user.lastSeen?.version ?? 0,
    }
  }

  async function orFail(userIds: readonly string[]): Promise<Recalled[]> {
    const users = await archive.read(userIds).catch((error: unknown) => {
      throw new Unavailable('the archive does not answer', { cause: error })
    })
    isFailing = false
    const now = clock.now()
    return users.map((user) => toRecalled(user, now))
  }

  return {
    orFail,
    async orAfresh(userIds) {
      try {
        return await orFail(userIds)
      } catch (error) {
        if (!isFailing)
          logger.error({ err: error }, 'archive cannot be read; people start afresh until it can')
        isFailing = true
        const now = clock.now()
        return userIds.map(() => toRecalled(NOBODY, now, true))
      }
    },
  }
}
