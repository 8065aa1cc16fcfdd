// Buckets of waiting times, one per millisecond, for the histograms of the tally. A quantile is exact to one
// bucket.

/** Longer waits share the last bucket. */
const WAIT_MS_MAX = 4_096
export const WAIT_BUCKETS = WAIT_MS_MAX + 1

export function waitBucketOf(waitMs: number): number {
  return waitMs < 0 ? 0 : waitMs > WAIT_MS_MAX ? WAIT_MS_MAX : Math.trunc(waitMs)
}

/** The waiting time that this share of `total` observations did not exceed; null without observations. */
export function waitQuantileOf(
  buckets: Float64Array | Uint32Array,
  total: number,
  share: number,
): number | null {
  if (total === 0) return null
  let remaining = Math.ceil(total * share)
  for (let bucket = 0; bucket < buckets.length; bucket++) {
    remaining -= buckets[bucket]!
    if (remaining <= 0) return bucket
  }
  return WAIT_MS_MAX
}
