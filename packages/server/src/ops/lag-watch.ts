// How far a consumer of a log is behind, asked for now and then: a scrape must not wait for the log.
import type { Clock } from '../platform/clock.ts'

const LOOK_EVERY_MS = 5_000

export interface LagWatch {
  /** Null where the log does not answer, or was not asked yet. */
  lag(): number | null
  stop(): void
}

export function startLagWatch(ask: () => Promise<number>, clock: Clock): LagWatch {
  let lag: number | null = null
  const look = async () => {
    lag = await ask().catch(() => null)
  }
  void look()
  const timer = clock.every(LOOK_EVERY_MS, () => void look())
  return { lag: () => lag, stop: () => timer.stop() }
}
