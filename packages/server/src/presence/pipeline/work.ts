// What is to be done to one person: the events of a turn, and those who wait for what they come to.
import type { PresenceEvent } from '../core/event.ts'
import type { UserRecord } from '../core/record.ts'
import type { Recalled } from '../reading/recall.ts'
import type { Unavailable } from '../unavailable.ts'

export interface Tracked {
  record: UserRecord
  revision: number
}

export interface Work {
  /** Counts up, so that whoever waits for all there is so far can tell it from what comes later. */
  readonly number: number
  readonly events: PresenceEvent[]
  readonly waiters: { resolve: (tracked: Tracked) => void; reject: (error: unknown) => void }[]
  /** A commit may have gone through without anybody hearing of it: say again what is true. */
  isRepeated: boolean
  /** What the archive said of them; null as long as it was not asked. */
  recalled: Recalled | null
  /** What became of them since it was asked, as far as we know. */
  since: UserRecord | null
}

export function createWork(number: number): Work {
  return { number, events: [], waiters: [], isRepeated: false, recalled: null, since: null }
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

/** Whether it only asks what is due: whatever else is done to the person finds that out as well. */
export function isTick({ events, waiters, isRepeated }: Work): boolean {
  return waiters.length === 0 && !isRepeated && events.every(({ type }) => type === 'tick')
}
