// Counters for hot paths: plain numbers that are incremented in place, and a histogram of waiting times with
// one bucket per millisecond. Metrics and stats read them.

/** Longer waits share the last bucket. */
const WAIT_MS_MAX = 4_096

export interface Tally {
  connectionsOpened: number
  connectionsClosed: number
  framesIn: number
  heartbeats: number
  framesOut: number
  /** Changes in sent frames: one change to one watcher is one delivery. */
  deliveries: number
  /** Visible changes of users that this process decided. */
  changes: number
  errorsSent: number
  sessionsLost: number
  /** The longest time the event loop was blocked since the last read. */
  loopBlockMsMax: number
  waits: WaitHistogram
}

export interface WaitHistogram {
  observe(waitMs: number, count: number): void
  /** The waiting time that this share of observations did not exceed; null without observations. */
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
