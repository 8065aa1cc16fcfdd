// When a failed request is made again. A batch has its own times, about a day in all; a webhook as a whole pauses for a
// shorter time, so one batch that its endpoint never takes does not hold up the batches of other users.
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** After the first failure of a batch, the second, and so on; the last one is for all further ones. */
const RETRIES_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS] as const
/** Then a batch is given up. With waits between half and all of the longest, that is after 14 to 28 hours. */
const FAILURES_MAX = 60
const PAUSE_MS_MAX = 5 * MINUTE_MS

/** A webhook of which every request failed for so long is disabled. */
export const DISABLE_AFTER_MS = 24 * HOUR_MS

/** The longest wait before the next request with this batch; null when it is given up. */
export function retryAfter(failures: number): number | null {
  return failures >= FAILURES_MAX ? null : waitAfter(failures)
}

/** The longest wait before the next request to this webhook. */
export function pauseAfter(failuresInRow: number): number {
  return Math.min(waitAfter(failuresInRow), PAUSE_MS_MAX)
}

const waitAfter = (failures: number): number => RETRIES_MS[Math.min(failures, RETRIES_MS.length) - 1]!
