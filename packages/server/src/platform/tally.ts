// Counters for hot paths: plain numbers that are incremented in place, and histograms of waiting times, since
// the start and of the last minutes. Metrics and stats read them.
import { createRecentWaits, type RecentWaits } from './recent-waits.ts'
import { WAIT_BUCKETS, waitBucketOf, waitQuantileOf } from './wait-buckets.ts'

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
  /** Requests to webhooks, by their end. */
  webhooksDelivered: number
  webhooksFailed: number
  /** The longest time the event loop was blocked since the last read. */
  loopBlockMsMax: number
  /** Since the start. */
  waits: WaitHistogram
  recentWaits: RecentWaits
}

export interface WaitHistogram {
  observe(waitMs: number, count: number): void
  /** The waiting time that this share of observations did not exceed; null without observations. */
  quantile(share: number): number | null
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
    webhooksDelivered: 0,
    webhooksFailed: 0,
    loopBlockMsMax: 0,
    waits: createWaitHistogram(),
    recentWaits: createRecentWaits(),
  }
}

function createWaitHistogram(): WaitHistogram {
  const buckets = new Float64Array(WAIT_BUCKETS)
  let total = 0
  return {
    observe(waitMs, count) {
      buckets[waitBucketOf(waitMs)]! += count
      total += count
    },
    quantile: (share) => waitQuantileOf(buckets, total, share),
  }
}
