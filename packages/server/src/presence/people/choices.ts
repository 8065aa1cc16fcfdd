// What a user chose is in the archive before it takes effect, so an answer is a promise: whatever dies after it,
// the choice is kept. Where it cannot be written the caller is told so, and nothing has changed. The choices of one
// user are made one after another here; those that another process makes meanwhile are merged by the commit, and
// then the merged settings are written before the answer.
import type { Clock } from '../../platform/clock.ts'
import { createKeyedQueues } from '../../platform/serial-queue.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { ChoiceEvent } from '../core/event.ts'
import { isBare, type UserRecord } from '../core/record.ts'
import { applyChoice } from '../core/setting-events.ts'
import type { Archivist } from '../pipeline/archivist.ts'
import type { Tracked, Tracker } from '../pipeline/tracker.ts'
import type { ArchivedRecord, ArchiveLookup } from '../reading/archive-lookup.ts'
import { toSettingsRow } from '../reading/archived-user.ts'
import { Unavailable } from '../unavailable.ts'

/** Choices under way; past it new ones are refused. */
const UNDER_WAY_MAX = 10_000
/** A failover loses the last second before it, and is noticed within a few. */
const RECENT_MS = 10_000
/** Users with recent choices; past it the oldest go. */
const RECENT_MAX = 100_000

export interface Choices {
  /** Applies the events as one, once the settings they lead to are in the archive. */
  apply(userId: string, ...events: ChoiceEvent[]): Promise<Tracked>
  /** The store was away and may have lost the choices of the last moment: they are read from the archive. */
  readBack(): void
}

export interface ChoicesParts {
  store: PresenceStore
  lookup: ArchiveLookup
  archivist: Archivist
  tracker: Tracker
  clock: Clock
}

export function createChoices({ store, lookup, archivist, tracker, clock }: ChoicesParts): Choices {
  const queueFor = createKeyedQueues(UNDER_WAY_MAX, 'a choice', (why) => new Unavailable(why))
  /** When each user last chose something, oldest first. */
  const recent = new Map<string, number>()

  /** The user's record, and what the archive said if the store does not know it. */
  async function present(userId: string): Promise<{ record: UserRecord; archived: ArchivedRecord | null }> {
    const [stored] = await store.load([userId]).catch((error: unknown) => {
      throw new Unavailable('the store does not answer', { cause: error })
    })
    if (stored != null && stored.record.settings === 'known') return { record: stored.record, archived: null }
    const [archived] = await lookup.loadOrFail([userId])
    return { record: archived!.record, archived: archived! }
  }

  const write = (userId: string, record: UserRecord) => archivist.settings(toSettingsRow(userId, record))

  async function choose(userId: string, chosen: readonly ChoiceEvent[]): Promise<Tracked> {
    if (!tracker.isReachable()) throw new Unavailable('updates cannot be passed on now')
    const { record, archived } = await present(userId)
    const events = chosen.map((event) => dateAfter(record, event))
    const wanted = events.reduce(applyChoice, record)
    await write(userId, wanted)
    // Asked again now, the archive would already have the choice, and nothing would seem to change.
    const tracked = await (archived === null
      ? tracker.apply(userId, ...events)
      : tracker.applyTo(archived, userId, ...events))
    if (hasSameSettings(userId, tracked.record, wanted)) return tracked
    // The second round of the erasure removes the row that was just written.
    if (isBare(tracked.record)) throw new Unavailable('the user was erased at this moment')
    await write(userId, tracked.record)
    return tracked
  }

  function remember(userId: string): void {
    const now = clock.now()
    recent.delete(userId)
    recent.set(userId, now)
    for (const [oldest, at] of recent) {
      if (at > now - RECENT_MS && recent.size <= RECENT_MAX) break
      recent.delete(oldest)
    }
  }

  return {
    readBack() {
      for (const userId of recent.keys()) tracker.report(userId, { type: 'doubted' })
      recent.clear()
    },
    async apply(userId, ...events) {
      const tracked = await queueFor(userId, () => choose(userId, events))
      remember(userId)
      return tracked
    },
  }
}

/**
 * The clocks of processes differ a little. A choice that follows an acknowledged one is newer than that, whatever the
 * clock says of the process that takes it.
 */
function dateAfter(record: UserRecord, event: ChoiceEvent): ChoiceEvent {
  const earlierAt = settingOf(record, event)?.setAt ?? 0
  return event.at > earlierAt ? event : { ...event, at: earlierAt + 1 }
}

function settingOf(record: UserRecord, event: ChoiceEvent): { setAt: number } | null {
  switch (event.type) {
    case 'set_availability':
      return record.availability
    case 'set_custom_status':
      return record.customStatus
    case 'set_away_after':
      return record.awayAfter
    case 'set_history':
      return record.history
    case 'set_privacy':
    case 'unlist':
      return record.privacy
  }
}

const hasSameSettings = (userId: string, a: UserRecord, b: UserRecord): boolean =>
  JSON.stringify(toSettingsRow(userId, a)) === JSON.stringify(toSettingsRow(userId, b))
