// Corrects rows that say that a user is here when the store does not say so. A store that fails over loses its last
// second. Where a user came in that second, and all processes that knew it ended before the store was back, only the row
// is left, and no change of the user will follow it. So after a start or a break the rows are looked through once.
import type { Archive } from '../../archive/port.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { ArchiveLookup } from '../reading/archive-lookup.ts'
import type { Tracker } from './tracker.ts'

/** Rows in one look. There may be millions, and none of them is urgent. */
const ROWS_MAX = 500

export interface StaleRows {
  /** Looks at some more rows; from the first again when the store has had a break, at `since`, after the last look. */
  look(since: number, isOurs: (shard: number) => boolean): Promise<void>
}

export interface StaleRowsParts {
  archive: Pick<Archive, 'hereIds'>
  store: PresenceStore
  lookup: ArchiveLookup
  tracker: Tracker
}

export function createStaleRows({ archive, store, lookup, tracker }: StaleRowsParts): StaleRows {
  let lookedSince = Number.NEGATIVE_INFINITY
  /** The last user looked at; null when all were. */
  let after: string | null = null

  async function lookAtRows(userIds: readonly string[]): Promise<void> {
    const [stored, archived] = await Promise.all([store.load(userIds), lookup.loadOrFail(userIds)])
    for (const [index, userId] of userIds.entries()) {
      const record = stored[index]?.record
      const version = archived[index]!.archivedVersion
      if (record === undefined) tracker.report(userId, { type: 'tick' })
      // A row that is older than the record is written again by its duty.
      else if (record.shown.status === 'offline' && record.version < version)
        tracker.report(userId, { type: 'raise_version', version })
    }
  }

  return {
    async look(since, isOurs) {
      if (since > lookedSince) {
        lookedSince = since
        after = ''
      }
      if (after === null) return
      try {
        const found = await archive.hereIds(after, ROWS_MAX)
        await lookAtRows(found.filter((userId) => isOurs(store.shardOf(userId))))
        after = found.length < ROWS_MAX ? null : found.at(-1)!
      } catch {
        // The next look tries the same rows.
      }
    },
  }
}
