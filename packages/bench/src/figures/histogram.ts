// Percentiles by HdrHistogram, in microseconds with three digits. Histograms of several processes are
// added up, never their percentiles.
import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js'

const HIGHEST_US = 600_000_000

export interface Latencies {
  record(ms: number): void
  add(other: Latencies): void
  count(): number
  /** Milliseconds; 0 when nothing was recorded. */
  at(percentile: number): number
  max(): number
  encode(): string
  /** What the library knows it by. */
  raw: Histogram
}

export function createLatencies(raw: Histogram = empty()): Latencies {
  const ms = (us: number): number => Math.round(us) / 1000
  return {
    raw,
    record: (value) => raw.recordValue(Math.min(HIGHEST_US, Math.max(0, Math.round(value * 1000)))),
    add: (other) => raw.add(other.raw as never),
    count: () => raw.totalCount,
    at: (percentile) => (raw.totalCount === 0 ? 0 : ms(raw.getValueAtPercentile(percentile))),
    max: () => (raw.totalCount === 0 ? 0 : ms(raw.maxValue)),
    encode: () => encodeIntoCompressedBase64(raw),
  }
}

const empty = (): Histogram =>
  build({
    bitBucketSize: 64,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: 3,
    autoResize: false,
    useWebAssembly: false,
  })

export const decodeLatencies = (text: string): Latencies =>
  createLatencies(decodeFromCompressedBase64(text, 64, false))

export function mergeLatencies(encoded: readonly string[]): Latencies {
  const merged = createLatencies()
  for (const text of encoded) merged.add(decodeLatencies(text))
  return merged
}

/** The points of the usual percentile curve: each step halves what is left above it. */
const CURVE = [
  0, 10, 25, 50, 75, 87.5, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.999, 100,
] as const

export interface CurvePoint {
  percentile: number
  ms: number
}

export const curveOf = (latencies: Latencies): CurvePoint[] =>
  CURVE.map((percentile) => ({ percentile, ms: latencies.at(percentile) }))
