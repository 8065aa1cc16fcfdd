// One user's part of a batch: the events reported for the user, and the callers that wait for the result.

import type { Span } from '../../platform/measuring/tracing.ts'
import type { PresenceEvent } from '../core/event.ts'
import type { UserRecord } from '../core/record.ts'
import type { ArchivedRecord } from '../reading/archive-lookup.ts'
import { Refused, type Unavailable } from '../unavailable.ts'

export interface Tracked {
  record: UserRecord
  revision: number
}

interface Waiter {
  /** The events the caller asked for; they are applied all or none. */
  events: readonly PresenceEvent[]
  resolve: (tracked: Tracked) => void
  reject: (error: unknown) => void
}

export interface Work {
  events: PresenceEvent[]
  waiters: Waiter[]
  /** A commit may have gone through unannounced: announce the present state again. */
  isRepeated: boolean
  /** The store may have lost what the user chose, and the archive must be asked. */
  isReview: boolean
  /** What the archive said of the user; null as long as it was not asked. */
  archived: ArchivedRecord | null
  /** The first of these events began its trace; null where it is not traced. */
  span: Span | null
}

export function createWork(): Work {
  return { events: [], waiters: [], isRepeated: false, isReview: false, archived: null, span: null }
}

/** The work of the first users, and that of the others. */
export function splitWorks(
  works: Map<string, Work>,
  usersMax: number,
): [first: Map<string, Work>, rest: Map<string, Work>] {
  if (works.size <= usersMax) return [works, new Map()]
  const first = new Map<string, Work>()
  for (const [userId, work] of works) {
    first.set(userId, work)
    works.delete(userId)
    if (first.size === usersMax) break
  }
  return [first, works]
}

/** Adds what happened after it. */
export function join(work: Work, later: Work): void {
  work.events.push(...later.events)
  work.waiters.push(...later.waiters)
  work.isRepeated ||= later.isRepeated
  work.isReview ||= later.isReview
  if (work.span === null) work.span = later.span
  else later.span?.end()
}

export function reject(work: Work, failure: Unavailable): void {
  for (const waiter of work.waiters) waiter.reject(failure)
  work.span?.fail()
}

/** Refuses what merges into earlier settings, because these cannot be read. Other events stay. */
export function refuseMerges(work: Work): void {
  const refused = work.waiters.filter(({ events }) => events.some(isMerged))
  if (refused.length > 0) work.waiters = work.waiters.filter((waiter) => !refused.includes(waiter))
  work.events = work.events.filter(
    (event) => !isMerged(event) && !refused.some(({ events }) => events.includes(event)),
  )
  for (const waiter of refused) waiter.reject(new Refused('earlier settings cannot be read'))
}

const isMerged = ({ type }: PresenceEvent) => type === 'set_privacy' || type === 'unlist'
