// The history of users who allow one: read for the API and the export, begun and deleted when a user chooses. It is
// written by a consumer of the change log. A choice that could not be carried out at once is not lost: rows that the
// user refuses are never read, and a sweep deletes them.
import type { Archive } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { hourOf, type KeptInterval, keptSince } from '../core/history.ts'
import type { UserRecord } from '../core/record.ts'
import { Unavailable } from '../unavailable.ts'
import { type AllHistory, toAllHistory, toUserHistory, type UserHistory } from './history-view.ts'

const INTERVALS_PER_PAGE = 1_000
/** In one answer. A longer history is answered in parts. */
export const INTERVALS_MAX = 10_000

export type HistoryAnswer<Found> =
  | { state: 'kept'; history: Found }
  /** The deployment keeps none. */
  | { state: 'off' }
  /** The user did not allow one. */
  | { state: 'not allowed' }

export interface History {
  /** What lies between two instants. A long history ends early: its `to` says where. */
  of(userId: string, from: number, to: number): Promise<HistoryAnswer<UserHistory>>
  /** The hours of all users who allow a history. */
  ofAll(from: number, to: number): Promise<HistoryAnswer<AllHistory>>
  /** All intervals of a user, oldest first, page by page. */
  pages(userId: string): AsyncGenerator<KeptInterval[]>
  /** The user chose whether there is one: it begins with the present state, or is deleted. */
  chosen(userId: string, record: UserRecord): Promise<void>
}

export interface HistoryParts {
  archive: Archive
  /** 0 for none. */
  historyDays?: number | undefined
  clock: Clock
  logger: Logger
}

export function createHistory({ archive, historyDays = 0, clock, logger }: HistoryParts): History {
  /** Without rows of before `since`, which are still to be deleted. */
  async function* read(
    userId: string,
    since: number,
    fromAt: number,
    toAt: number,
  ): AsyncGenerator<KeptInterval[]> {
    for (let after: KeptInterval | null = null; ; ) {
      const span = { fromAt, toAt, after, limit: INTERVALS_PER_PAGE }
      const page: KeptInterval[] = await archive.history.read(userId, span)
      yield page.filter((interval) => interval.fromAt >= since)
      if (page.length < INTERVALS_PER_PAGE) return
      after = page.at(-1)!
      await clock.nextTurn()
    }
  }

  async function of(userId: string, from: number, to: number): Promise<HistoryAnswer<UserHistory>> {
    const since = await archive.history.keepsSince(userId)
    if (since === null) return { state: 'not allowed' }
    const now = clock.now()
    const fromAt = Math.max(from, since, keptSince(historyDays, now))
    const toAt = Math.max(fromAt, Math.min(to, now))
    const intervals: KeptInterval[] = []
    for await (const page of read(userId, since, fromAt, toAt)) {
      intervals.push(...page)
      if (intervals.length > INTERVALS_MAX) {
        const endsAt = intervals[INTERVALS_MAX]!.fromAt
        intervals.length = INTERVALS_MAX
        return { state: 'kept', history: toUserHistory(userId, intervals, fromAt, endsAt) }
      }
    }
    return { state: 'kept', history: toUserHistory(userId, intervals, fromAt, toAt) }
  }

  async function ofAll(from: number, to: number): Promise<HistoryAnswer<AllHistory>> {
    const now = clock.now()
    const fromAt = hourOf(Math.max(from, keptSince(historyDays, now)))
    const toAt = Math.max(fromAt, Math.min(to, now))
    const hours = await archive.history.hours(fromAt, toAt, now)
    return { state: 'kept', history: toAllHistory(hours, fromAt, toAt) }
  }

  const answered = <Found>(ask: () => Promise<HistoryAnswer<Found>>): Promise<HistoryAnswer<Found>> =>
    historyDays === 0
      ? Promise.resolve({ state: 'off' })
      : ask().catch((error: unknown) => {
          throw new Unavailable('the history cannot be read', { cause: error })
        })

  async function begin(userId: string, { version, shown, history }: UserRecord): Promise<void> {
    const { status, devices, since } = shown
    const at = Math.max(since, history!.setAt)
    await archive.history.write([{ userId, version, at, status, devices }], keptSince(historyDays, at))
  }

  return {
    of: (userId, from, to) => answered(() => of(userId, from, to)),
    ofAll: (from, to) => answered(() => ofAll(from, to)),
    async *pages(userId) {
      const since = await archive.history.keepsSince(userId)
      if (since !== null) yield* read(userId, since, since, Number.MAX_SAFE_INTEGER)
    },
    async chosen(userId, record) {
      try {
        if (record.history?.isKept !== true) await archive.history.forget(userId)
        else if (historyDays > 0) await begin(userId, record)
      } catch (error) {
        logger.warn({ err: error }, 'a history could not be begun or deleted at once; that is done later')
      }
    },
  }
}
