// One user's part of a batch: the events reported for the user, and the callers that wait for the result.
import type { PresenceEvent } from '../core/event.ts'
import type { UserRecord } from '../core/record.ts'
import type { ArchivedRecord } from '../reading/archive-lookup.ts'
import type { Unavailable } from '../unavailable.ts'

export interface Tracked {
  record: UserRecord
  revision: number
}

export interface Work {
  readonly events: PresenceEvent[]
  readonly waiters: { resolve: (tracked: Tracked) => void; reject: (error: unknown) => void }[]
  /** A commit may have gone through unannounced: announce the present state again. */
  isRepeated: boolean
  /** What the archive said of the user; null as long as it was not asked. */
  archived: ArchivedRecord | null
}

export function createWork(): Work {
  return { events: [], waiters: [], isRepeated: false, archived: null }
}

/** Adds what happened after it. */
export function join(work: Work, later: Work): void {
  work.events.push(...later.events)
  work.waiters.push(...later.waiters)
  work.isRepeated ||= later.isRepeated
}

export function reject(work: Work, failure: Unavailable): void {
  for (const waiter of work.waiters) waiter.reject(failure)
}
