// Why tokens were rejected, for operators: the first rejection with a reason is logged at once, further ones are
// counted and logged as one line at the end of each interval. So a flood costs one line per reason and interval.
// A line has the reason and the count, and never anything from the token.
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'

/** Closed, so that the number of lines is bounded. */
export const REJECTION_REASONS = [
  'no token',
  'too long',
  'not a JWT and not a server key',
  'no way to check signed tokens',
  'algorithm not allowed',
  'bad signature',
  'signed with an unknown key',
  'expired',
  'issued before a disconnect',
  'not valid yet',
  'no sub',
  'sub is not a valid user id',
  'no exp',
  'no audience',
  'wrong audience',
  'no issuer',
  'wrong issuer',
  'invalid claim',
  'key set cannot be fetched',
] as const
export type RejectionReason = (typeof REJECTION_REASONS)[number]

const EVERY_MS = 10_000

export interface RejectionLog {
  report(reason: RejectionReason): void
  /** Logs what is still counted. */
  stop(): void
}

interface Interval {
  suppressed: number
  timer: Timer
}

export function createRejectionLog(parts: { clock: Pick<Clock, 'after'>; logger: Logger }): RejectionLog {
  const { clock, logger } = parts
  const intervals = new Map<RejectionReason, Interval>()

  function log(reason: RejectionReason, suppressed: number): void {
    logger.warn({ reason, suppressed }, 'a token was rejected')
  }

  function begin(reason: RejectionReason): void {
    intervals.set(reason, { suppressed: 0, timer: clock.after(EVERY_MS, () => end(reason)) })
  }

  function end(reason: RejectionReason): void {
    const { suppressed } = intervals.get(reason)!
    intervals.delete(reason)
    if (suppressed === 0) return
    log(reason, suppressed)
    begin(reason)
  }

  return {
    report(reason) {
      const running = intervals.get(reason)
      if (running !== undefined) {
        running.suppressed++
        return
      }
      log(reason, 0)
      begin(reason)
    },
    stop() {
      for (const [reason, { suppressed, timer }] of intervals) {
        timer.stop()
        if (suppressed > 0) log(reason, suppressed)
      }
      intervals.clear()
    },
  }
}
