// The figures of the last hour, one sample every ten seconds, for the charts of the dashboard. Kept in
// memory, bounded, and lost with the process.
import type { Status } from '@greendot/protocol'
import type { Clock, Timer } from '../platform/clock.ts'

const SAMPLE_EVERY_MS = 10_000
const SAMPLES_MAX = 360

export interface Sample {
  at: number
  /** Null while the store was down. */
  users: Record<Status, number> | null
  connections: number
  watches: number
  changes_per_second: number
  deliveries_per_second: number
  /** The slowest process counts, because percentiles cannot be added. */
  propagation_p50_ms: number | null
  propagation_p90_ms: number | null
  propagation_p99_ms: number | null
}

export interface StatsHistory {
  /** Oldest first. */
  samples(): readonly Sample[]
  stop(): void
}

export function startStatsHistory(parts: { clock: Clock; sample: () => Promise<Sample> }): StatsHistory {
  const { clock, sample } = parts
  const samples: Sample[] = []

  async function take(): Promise<void> {
    samples.push(await sample())
    if (samples.length > SAMPLES_MAX) samples.shift()
  }
  // A failed sample is left out.
  const tryTake = () => void take().catch(() => {})
  const timer: Timer = clock.every(SAMPLE_EVERY_MS, tryTake)
  clock.soon(tryTake)

  return { samples: () => samples, stop: () => timer.stop() }
}
