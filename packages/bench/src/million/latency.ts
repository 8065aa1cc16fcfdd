// How long deliveries took, as the load counts them: buckets that are powers of two of microseconds, each cut into
// sixteen. A bucket stands for its upper end, so no figure is better than what was measured.

export interface Latency {
  max_us: number
  /** Counts by the number of the bucket. */
  buckets: Readonly<Record<string, number>>
}

export function mergeLatencies(all: readonly Latency[]): Latency {
  const buckets: Record<string, number> = {}
  for (const latency of all)
    for (const [bucket, count] of Object.entries(latency.buckets))
      buckets[bucket] = (buckets[bucket] ?? 0) + count
  return { max_us: Math.max(0, ...all.map(({ max_us }) => max_us)), buckets }
}

export const deliveriesIn = ({ buckets }: Latency): number =>
  Object.values(buckets).reduce((sum, count) => sum + count, 0)

/** In milliseconds; null where nothing was delivered. */
export function percentileMs(latency: Latency, share: number): number | null {
  const total = deliveriesIn(latency)
  if (total === 0) return null
  let seen = 0
  const buckets = Object.entries(latency.buckets).toSorted(([a], [b]) => Number(a) - Number(b))
  for (const [bucket, count] of buckets) {
    seen += count
    if (seen >= total * share) return Math.min(upperUs(Number(bucket)), latency.max_us) / 1000
  }
  return latency.max_us / 1000
}

function upperUs(bucket: number): number {
  if (bucket < 16) return bucket + 1
  const power = Math.floor(bucket / 16) + 3
  return 2 ** power + ((bucket % 16) + 1) * 2 ** (power - 4)
}
