// The directory of the processes of a deployment. Each process publishes a summary of itself in the store,
// so that any of them can answer for all. A process that stops publishing disappears within seconds.
import type { Clock, Timer } from '../platform/clock.ts'
import type { PresenceStore } from '../store/port.ts'

const PUBLISH_EVERY_MS = 5_000
/** Survives two lost or late publications. */
const VALID_MS = 15_000

/** By consumer, in the whole deployment; null where the log does not answer, or was not asked yet. */
export type LogLag = Readonly<Record<string, number | null>>

export interface ProcessSummary {
  /** The name of the gateway, or of a process without connections. */
  name: string
  roles: readonly string[]
  connections: number
  streams: number
  watches: number
  watched_users: number
  slow_readers: number
  changes_per_second: number
  deliveries_per_second: number
  frames_in_per_second: number
  /** Of the last minutes; null without a delivery in them. */
  propagation_p50_ms: number | null
  propagation_p90_ms: number | null
  propagation_p99_ms: number | null
  archive_backlog: number
  /** Changes that each consumer of the log has yet to handle; of processes with the fan-out role. */
  log_lag: LogLag
  resident_bytes: number
  uptime_ms: number
}

export interface ProcessDirectory {
  /** All processes, this one with its present figures. */
  read(): Promise<ProcessSummary[]>
  stop(): void
}

export function startProcessDirectory(parts: {
  store: PresenceStore
  clock: Clock
  summary: () => ProcessSummary
}): ProcessDirectory {
  const { store, clock, summary } = parts

  const publish = () => {
    const own = summary()
    // A failure needs no handling: the next publication is seconds away.
    store.publishSummary(own.name, JSON.stringify(own), clock.now() + VALID_MS).catch(() => {})
  }
  const timer: Timer = clock.every(PUBLISH_EVERY_MS, publish)
  clock.soon(publish)

  return {
    async read() {
      const own = summary()
      const read = await store.summaries(clock.now()).catch(() => new Map<string, string>())
      read.delete(own.name)
      const others = [...read.values()].map((text) => JSON.parse(text) as ProcessSummary)
      return [own, ...others].sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    stop: () => timer.stop(),
  }
}
