// Keeps the history within its limits: at the start and every hour it deletes what is too old and what users refuse,
// and ends intervals whose departure was lost with a part of the log. Several processes may do this at once. Where
// history is off, what is there grows old by the number of days that was set last: the database may be shared with
// processes that keep a history, so nothing is deleted because of a 0.
import type { Archive } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { HOUR_MS, keptSince } from '../presence/core/history.ts'

const EVERY_MS = HOUR_MS
/** The log may bring the record of a departure this late. */
const LATE_MS = HOUR_MS

export interface HistorySweep {
  /** Resolves when the sweep under way has ended. */
  stop(): Promise<void>
}

export interface HistorySweepParts {
  archive: Archive
  /** 0 where history is off. */
  historyDays: number
  clock: Clock
  logger: Logger
}

export function startHistorySweep({ archive, historyDays, clock, logger }: HistorySweepParts): HistorySweep {
  const { history } = archive
  let isStopped = false
  let isWarned = false
  let running: Promise<void> | null = null

  async function deleteRefused(): Promise<void> {
    for (let afterId: string | null = ''; afterId !== null && !isStopped; ) {
      const { userIds, lastId }: { userIds: string[]; lastId: string | null } =
        await history.refusing(afterId)
      for (const userId of userIds) await history.forget(userId)
      afterId = lastId
      await clock.nextTurn()
    }
  }

  async function endLost(): Promise<void> {
    for (let afterId = ''; !isStopped; ) {
      const departures = await history.unended(clock.now() - LATE_MS, afterId)
      if (departures.length === 0) return
      await history.write(departures, 0)
      afterId = departures.at(-1)!.userId
      await clock.nextTurn()
    }
  }

  /** Null where there is no history. */
  async function daysKept(): Promise<number | null> {
    if (historyDays === 0) return history.keptDays()
    await history.keepDays(historyDays)
    return historyDays
  }

  async function sweep(): Promise<void> {
    const days = await daysKept()
    if (days === null) return
    if (historyDays === 0 && !isWarned) {
      isWarned = true
      logger.warn({ days }, 'history_days is 0 here, and the database has a history: it is kept for its days')
    }
    await endLost()
    await deleteRefused()
    await history.trim(keptSince(days, clock.now()))
  }

  function run(): void {
    running ??= sweep()
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'the history could not be swept; it is tried again in an hour'),
      )
      .finally(() => {
        running = null
      })
  }

  run()
  const timer = clock.every(EVERY_MS, run)
  return {
    async stop() {
      isStopped = true
      timer.stop()
      await running
    },
  }
}
