// The time of a server without a shared store: the clock of the machine, without its steps. It never goes back, and
// while the machine's clock was set by hand or by NTP it runs at most a tenth slower or faster than monotonic time
// until both agree again. So deadlines are at most a tenth late or early, whatever the machine's clock does. Only
// a step forward by minutes is followed at once: that is a machine that slept, or got its first right time.
import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'

/** The part of the monotonic time by which the difference is made smaller. */
const SLEW = 0.1
/** Differences of two readings that are not made at the same instant; also NTP's usual corrections. */
const AGREE_MS = 10
/** At this difference instants are worse than sessions that seem lost and come back with the next heartbeat. */
const FOLLOWED_AHEAD_MS = 300_000
const WORTH_A_WARNING_MS = 1_000

export function createSteadyClock(machine: Clock, logger: Logger): Clock {
  let elapsedMs = machine.elapsed()
  let nowAt = machine.now()
  let isWarned = false

  /** Once for each step of the machine's clock. */
  function warn(differenceMs: number): void {
    const isLarge = Math.abs(differenceMs) >= WORTH_A_WARNING_MS
    if (isLarge && !isWarned)
      logger.warn(
        { differenceMs: Math.round(differenceMs) },
        differenceMs >= FOLLOWED_AHEAD_MS
          ? 'the clock of this machine was set forward; sessions may seem lost for a moment'
          : 'the clock of this machine was set; this server follows it slowly, so that no deadline jumps',
      )
    isWarned = isLarge
  }

  function now(): number {
    const machineAt = machine.now()
    const elapsed = machine.elapsed()
    const passedMs = Math.max(0, elapsed - elapsedMs)
    elapsedMs = elapsed
    const undisturbedAt = nowAt + passedMs
    const differenceMs = machineAt - undisturbedAt
    warn(differenceMs)
    const correctionMs =
      Math.abs(differenceMs) <= AGREE_MS || differenceMs >= FOLLOWED_AHEAD_MS
        ? differenceMs
        : Math.sign(differenceMs) * Math.min(Math.abs(differenceMs), passedMs * SLEW)
    nowAt = Math.max(nowAt, undisturbedAt + correctionMs)
    return Math.floor(nowAt)
  }

  return { ...machine, now }
}
