// Does the work of processes that died: a change whose duty is still open some time after its commit was perhaps
// never announced, or its row never written. Doing it twice is harmless. Part of a sweeper's round.
import type { Duty, FoundDuty, OpenDuty, PresenceStore, Stored } from '../../store/port.ts'
import { isBare } from '../core/record.ts'
import type { ArchiveLookup } from '../reading/archive-lookup.ts'
import { toLastSeenRow, toSettingsRow } from '../reading/archived-user.ts'
import type { Archivist } from './archivist.ts'
import type { Duties } from './duties.ts'
import type { Tracker } from './tracker.ts'

/** A process announces its commits in milliseconds; past this it is taken to be gone. */
const ANNOUNCE_LATE_MS = 2_000
/** A busy database may take seconds, and then more writes would not help. */
const ARCHIVE_LATE_MS = 5_000
/** Users of one shard in a round. */
const USERS_MAX = 1_000

export interface DutySweep {
  /** `isOurs`: this sweeper is the first to look at this shard; others come later. */
  sweep(shard: number, now: number, isOurs: boolean): Promise<void>
  /** When the oldest late duty began that the last look at each shard found; null where no duty is late. */
  oldestSince(duty: Duty): number | null
}

export interface DutySweepParts {
  store: PresenceStore
  lookup: ArchiveLookup
  tracker: Tracker
  archivist: Archivist
  duties: Duties
}

export function createDutySweep(parts: DutySweepParts): DutySweep {
  const { store, lookup, tracker, archivist, duties } = parts
  const oldestOf: Record<Duty, Map<number, number>> = { announce: new Map(), archive: new Map() }

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
    // While the database fails, one user is enough to find out when it is back.
    const limit = archivist.isFailing() ? 1 : USERS_MAX
    const open = await lateDuties('archive', shard, until, limit)
    if (open.length === 0) return
    const stored = await store.load(open.map(({ userId }) => userId))
    await Promise.all(open.map((duty, index) => writeRows(duty, stored[index] ?? null, now)))
  }

  async function writeRows(duty: OpenDuty, stored: Stored | null, now: number): Promise<void> {
    const { userId } = duty
    if (stored?.record.settings === 'unknown') {
      // Asks the archive for the settings. The commit that has them leaves duties of its own.
      tracker.report(userId, { type: 'tick' })
      return
    }
    // An erased user has no rows.
    if (stored !== null && !isBare(stored.record)) {
      const { record } = stored
      const isWritten = await archivist.lastSeen(toLastSeenRow(userId, record, now))
      if (!isWritten && !(await isArchived(userId, record.version))) return
      await archivist.settings(toSettingsRow(userId, stored.record))
    }
    duties.done('archive', duty)
  }

  /**
   * Whether the archive has this version. Where the store has lost versions that the archive has, it is raised above them:
   * the row would be ignored for ever.
   */
  async function isArchived(userId: string, version: number): Promise<boolean> {
    const [archived] = await lookup.loadOrUnknown([userId])
    const { archivedVersion } = archived!
    if (archivedVersion > version) tracker.report(userId, { type: 'raise_version', version: archivedVersion })
    return archivedVersion === version
  }

  return {
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
