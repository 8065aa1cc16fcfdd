// The clock of one partition. It does not run ahead of the log: while old records are worked off, it is as late as
// they are. Otherwise a user who closed and came back would be shown offline between the two records, because the
// delay of the first seems to have passed.
import type { Clock } from '../platform/clock.ts'

/** Records that are younger than this count as the present. */
const BEHIND_MS = 1_000

export interface LogClock extends Clock {
  /** The newest record of the batch that is worked on next was sent at this instant. */
  follow(sentAt: number): void
}

export function createLogClock(clock: Clock): LogClock {
  let behindMs = 0
  let latest = 0
  return {
    ...clock,
    now() {
      latest = Math.max(latest, clock.now() - behindMs)
      return latest
    },
    follow(sentAt) {
      const ageMs = clock.now() - sentAt
      behindMs = ageMs > BEHIND_MS ? ageMs : 0
    },
  }
}
