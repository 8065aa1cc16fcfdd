// Percentiles of the waiting times of the last minutes: a ring of histograms, one for each slice of time. No
// observation older than the window counts, and every observation of the window less one slice does. Each
// histogram carries the number of its slice, so a clock that is set forward or back needs no handling.
import { WAIT_BUCKETS, waitBucketOf, waitQuantileOf } from './wait-buckets.ts'

const SLICE_MS = 30_000
const SLICES = 10
export const WAIT_WINDOW_MS = SLICES * SLICE_MS

export interface WaitPercentiles {
  /** In milliseconds; null without observations. */
  p50: number | null
  p90: number | null
  p99: number | null
  /** Observations in the window. */
  count: number
}

export interface RecentWaits {
  observe(waitMs: number, count: number, now: number): void
  percentiles(now: number): WaitPercentiles
}

export function createRecentWaits(): RecentWaits {
  const ring = Array.from({ length: SLICES }, () => ({
    slice: Number.NEGATIVE_INFINITY,
    buckets: new Uint32Array(WAIT_BUCKETS),
  }))

  return {
    observe(waitMs, count, now) {
      const slice = Math.floor(now / SLICE_MS)
      const place = ring.at(slice % SLICES)!
      if (place.slice !== slice) {
        place.slice = slice
        place.buckets.fill(0)
      }
      place.buckets[waitBucketOf(waitMs)]! += count
    },
    percentiles(now) {
      const newest = Math.floor(now / SLICE_MS)
      const buckets = new Float64Array(WAIT_BUCKETS)
      let total = 0
      for (const { slice, buckets: counts } of ring) {
        if (slice > newest || slice <= newest - SLICES) continue
        for (let bucket = 0; bucket < WAIT_BUCKETS; bucket++) {
          buckets[bucket]! += counts[bucket]!
          total += counts[bucket]!
        }
      }
      const at = (share: number) => waitQuantileOf(buckets, total, share)
      return { p50: at(0.5), p90: at(0.9), p99: at(0.99), count: total }
    },
  }
}
