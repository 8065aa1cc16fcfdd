// Keeps a flood of equal log lines short: of each message some lines are written in an interval, and the rest are
// counted. The interval ends with one line that has the count, so no line is left out unsaid.
import type { Timer } from './clock.ts'

const LINES_MAX = 50
const INTERVAL_MS = 10_000
/** Messages counted apart. Further ones share one count. */
const MESSAGES_MAX = 500
const OTHERS = 'other messages'

export interface LogFlood {
  /** Whether a line with this message is written. Where not, `tell` is called once at the end of the interval. */
  admits(message: string, tell: (suppressed: number) => void): boolean
  /** Lines left out since the start. */
  suppressed(): number
}

interface Interval {
  lines: number
  suppressed: number
}

export function createLogFlood(after: (delayMs: number, run: () => void) => Timer): LogFlood {
  const intervals = new Map<string, Interval>()
  let total = 0

  return {
    admits(message, tell) {
      const isOther = !intervals.has(message) && intervals.size >= MESSAGES_MAX
      const key = isOther ? OTHERS : message
      let interval = intervals.get(key)
      if (interval === undefined) {
        interval = { lines: 0, suppressed: 0 }
        intervals.set(key, interval)
        after(INTERVAL_MS, () => intervals.delete(key))
      }
      if (++interval.lines <= LINES_MAX) return true
      total++
      if (interval.suppressed++ === 0) {
        const counted = interval
        after(INTERVAL_MS, () => tell(counted.suppressed))
      }
      return false
    },
    suppressed: () => total,
  }
}
