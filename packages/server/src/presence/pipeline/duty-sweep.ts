// Does the work of processes that died: a change whose duty is still open some time after its commit was perhaps
// never announced, or its row never written. Doing it twice is harmless. Part of a sweeper's round. A row that the
// database refuses fails the write that it shares with others, so fewer rows are written together after a failure, and
// one that fails without others is passed over.
import type { Archive } from '../../archive/port.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Duty, FoundDuty, OpenDuty, PresenceStore, Stored } from '../../store/port.ts'
import { isBare } from '../core/record.ts'
import type { ArchiveLookup } from '../reading/archive-lookup.ts'
import { toLastSeenRow, toSettingsRow } from '../reading/archived-user.ts'
import type { Archivist } from './archivist.ts'
import type { Duties } from './duties.ts'
import { createSetAside, type SetAside } from './set-aside.ts'
import { createStaleRows, type StaleRows } from './stale-rows.ts'
import type { Tracker } from './tracker.ts'

/** A process announces its commits in milliseconds; past this it is taken to be gone. */
const ANNOUNCE_LATE_MS = 2_000
/** A busy database may take seconds, and then more writes would not help. */
const ARCHIVE_LATE_MS = 5_000
/** Users of one shard in a round. */
const USERS_MAX = 1_000
/** After a round that was written, the next one has so many times as many users. */
const GROWTH = 10
/** Users of one shard in a round that were passed over before: each is a statement. */
const ALONE_MAX = 2

export interface DutySweep {
  /** Looks for rows of which no duty is left. */
  staleRows: StaleRows
  /** `isOurs`: this sweeper is the first to look at this shard; others come later. */
  sweep(shard: number, now: number, isOurs: boolean): Promise<void>
  /** When the oldest late duty began that the last look at each shard found; null where no duty is late. */
  oldestSince(duty: Duty): number | null
}

export interface DutySweepParts {
  archive: Pick<Archive, 'hereIds'>
  store: PresenceStore
  lookup: ArchiveLookup
  tracker: Tracker
  archivist: Archivist
  duties: Duties
  logger: Logger
}

/** How the rows of a shard are written. */
interface Writing {
  usersMax: number
  aside: SetAside
}

interface Late {
  duty: OpenDuty
  stored: Stored | null
}

export function createDutySweep(parts: DutySweepParts): DutySweep {
  const { store, lookup, tracker, archivist, duties, logger } = parts
  const oldestOf: Record<Duty, Map<number, number>> = { announce: new Map(), archive: new Map() }
  const writings = new Map<number, Writing>()

  function writingOf(shard: number): Writing {
    let writing = writings.get(shard)
    if (writing === undefined) {
      writing = { usersMax: USERS_MAX, aside: createSetAside() }
      writings.set(shard, writing)
    }
    return writing
  }

  async function lateDuties(duty: Duty, shard: number, until: number, limit: number): Promise<FoundDuty[]> {
    const late = await store.openDuties(duty, shard, until, limit)
    if (late.length === 0) oldestOf[duty].delete(shard)
    else oldestOf[duty].set(shard, late[0]!.since)
    return late
  }

  async function announceAgain(shard: number, until: number): Promise<void> {
    for (const { userId } of await lateDuties('announce', shard, until, USERS_MAX)) tracker.repeat(userId)
  }

  async function writeAgain(shard: number, until: number, now: number): Promise<void> {
    const writing = writingOf(shard)
    const { aside } = writing
    // While the database fails, one user is enough to find out when it is back.
    const usersMax = archivist.isFailing() ? 1 : writing.usersMax
    const open = await lateDuties('archive', shard, until, usersMax + aside.size())
    aside.keepOnly(new Set(open.map(({ userId }) => userId)))
    if (open.length === 0) return
    const stored = await store.load(open.map(({ userId }) => userId))
    const late = new Map<string, Late>()
    for (const [index, duty] of open.entries()) late.set(duty.userId, { duty, stored: stored[index] ?? null })

    const others = open.map(({ userId }) => userId).filter((userId) => !aside.has(userId))
    const due = aside.userIds().filter((userId) => aside.isDue(userId, now))
    const chosen = others.length === 0 && archivist.isFailing() ? due.slice(0, 1) : others.slice(0, usersMax)
    const outcomes = await Promise.all(chosen.map((userId) => writeWithOthers(late.get(userId)!, now)))
    const isWritten = outcomes.every(Boolean)
    writing.usersMax = isWritten ? Math.min(USERS_MAX, usersMax * GROWTH) : 1
    if (chosen.length === 1) {
      if (isWritten) aside.done(chosen[0]!)
      else aside.failed(chosen[0]!, now)
    }
    if (isWritten && !archivist.isFailing())
      for (const userId of due.slice(0, ALONE_MAX)) await writeAlone(aside, late.get(userId)!, now)
  }

  async function writeWithOthers({ duty, stored }: Late, now: number): Promise<boolean> {
    const { userId } = duty
    if (stored?.record.settings === 'unknown') {
      // Asks the archive for the settings. The commit that has them leaves duties of its own.
      tracker.report(userId, { type: 'tick' })
      return true
    }
    // An erased user has no rows.
    if (stored !== null && !isBare(stored.record)) {
      const { record } = stored
      const isWritten = await archivist.lastSeen(toLastSeenRow(userId, record, now))
      const archivedVersion = isWritten ? record.version : await archivedVersionOf(userId)
      if (archivedVersion < record.version) return false
      if (archivedVersion > record.version) {
        // The store has lost versions that the archive has, and the row would be ignored for ever.
        tracker.report(userId, { type: 'raise_version', version: archivedVersion })
        return true
      }
      const isSet = archivist.settings(toSettingsRow(userId, record)).then(
        () => true,
        () => false,
      )
      if (!(await isSet)) return false
    }
    duties.done('archive', duty)
    return true
  }

  async function writeAlone(aside: SetAside, { duty, stored }: Late, now: number): Promise<void> {
    const { userId } = duty
    if (stored === null || isBare(stored.record) || stored.record.settings === 'unknown') {
      // There is nothing to refuse any more, so it goes with the others again.
      aside.done(userId)
      return
    }
    const rows = [toLastSeenRow(userId, stored.record, now), toSettingsRow(userId, stored.record)] as const
    const failure = await archivist.writeAlone(...rows)
    if (failure === null) {
      aside.done(userId)
      duties.done('archive', duty)
    } else if (aside.refused(userId, now))
      logger.error({ user: userId, err: failure }, 'the database refuses the rows of a user; others go on')
  }

  /** The row was not written, or one that was written with it was not. 0 where the archive cannot be read. */
  async function archivedVersionOf(userId: string): Promise<number> {
    const [archived] = await lookup.loadOrUnknown([userId])
    return archived!.archivedVersion
  }

  return {
    staleRows: createStaleRows(parts),
    async sweep(shard, now, isOurs) {
      const patience = isOurs ? 1 : 2
      await announceAgain(shard, now - ANNOUNCE_LATE_MS * patience)
      await writeAgain(shard, now - ARCHIVE_LATE_MS * patience, now)
    },
    oldestSince(duty) {
      const all = oldestOf[duty]
      return all.size === 0 ? null : Math.min(...all.values())
    },
  }
}
