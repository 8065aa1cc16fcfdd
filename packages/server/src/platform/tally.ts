// Counters for hot paths: plain numbers that are bumped without a call, and a histogram of waiting
// times with one bucket a millisecond. Metrics and stats read them when somebody asks.

/** Waits longer than this share the last bucket. */
const WAIT_MS_MAX = 4_096

export interface Tally {
  connectionsOpened: number
  connectionsClosed: number
  framesIn: number
  heartbeats: number
  framesOut: number
  /** Changes inside the frames sent: one change to one watcher is one delivery. */
  deliveries: number
  /** Visible changes of users, decided here. */
  changes: number
  errorsSent: number
  sessionsLost: number
  /** The longest time for which the event loop did not come round, since somebody last asked. */
  loopBlockMsMax: number
  waits: WaitHistogram
}

export interface WaitHistogram {
  observe(waitMs: number, count: number): void
  /** The waiting time that this share of observations did not exceed; null before the first. */
  quantile(share: number): number | null
  count(): number
}

export function createTally(): Tally {
  return {
    connectionsOpened: 0,
    connectionsClosed: 0,
    framesIn: 0,
    heartbeats: 0,
    framesOut: 0,
    deliveries: 0,
    changes: 0,
    errorsSent: 0,
    sessionsLost: 0,
    loopBlockMsMax: 0,
    waits: createWaitHistogram(),
  }
}

function createWaitHistogram(): WaitHistogram {
  const buckets = new Float64Array(WAIT_MS_MAX + 1)
  let total = 0
  return {
    observe(waitMs, count) {
      const bucket = waitMs < 0 ? 0 : waitMs > WAIT_MS_MAX ? WAIT_MS_MAX : Math.trunc(waitMs)
      buckets[bucket]! += count
      total += count
    },
    quantile(share) {
      if (total === 0) return null
      let remaining = Math.ceil(total * share)
      for (let bucket = 0; bucket < buckets.length; bucket++) {
        remaining -= buckets[bucket]!
        if (remaining <= 0) return bucket
      }
      return WAIT_MS_MAX
    },
    count: () => total,
  }
}
