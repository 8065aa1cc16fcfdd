// A histogram for hot paths: an observation is one increment of an array, without a search for its bucket.
// The buckets of several processes can be added, which percentiles of each process do not allow.

export interface Histogram {
  /** Upper bounds of the buckets, in whole milliseconds. */
  readonly boundsMs: readonly number[]
  observe(valueMs: number, count?: number): void
  read(): HistogramReading
}

export interface HistogramReading {
  /** By bucket, without those below it. The last one has what is above all bounds. */
  counts: readonly number[]
  sumMs: number
}

export function createHistogram(boundsMs: readonly number[]): Histogram {
  const highestMs = boundsMs.at(-1)!
  const bucketOf = new Uint8Array(highestMs + 2)
  for (let ms = 0; ms <= highestMs; ms++) bucketOf[ms] = boundsMs.findIndex((bound) => ms <= bound)
  bucketOf[highestMs + 1] = boundsMs.length
  const counts = new Float64Array(boundsMs.length + 1)
  let sumMs = 0

  return {
    boundsMs,
    observe(valueMs, count = 1) {
      // Clocks of two machines may differ by a little.
      const ms = valueMs > 0 ? Math.ceil(valueMs) : 0
      counts[bucketOf[ms > highestMs ? highestMs + 1 : ms]!]! += count
      sumMs += (valueMs > 0 ? valueMs : 0) * count
    },
    read: () => ({ counts: Array.from(counts), sumMs }),
  }
}
