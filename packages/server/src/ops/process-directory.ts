// What every process of a deployment says of itself, put up where the others can read it, so that any of
// them can answer for all. A process that stops saying something is gone from the board within seconds.
import type { Clock, Timer } from '../platform/clock.ts'
import type { PresenceStore } from '../store/port.ts'

const PUT_UP_EVERY_MS = 5_000
/** Two may be late or lost. */
const HOLDS_MS = 15_000

/** One process, in numbers that add up or stand for themselves. */
export interface ProcessNotice {
  /** The gateway's name, or that of a process that holds no connections. */
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
  propagation_p99_ms: number | null
  archive_backlog: number
  resident_bytes: number
  uptime_ms: number
}

export interface Board {
  /** All processes, this one as it is now. */
  read(): Promise<ProcessNotice[]>
  stop(): void
}

export function startBoard(parts: {
  store: PresenceStore
  clock: Clock
  notice: () => ProcessNotice
}): Board {
  const { store, clock, notice } = parts

  // While the store is away there is nobody to tell.
  const putUp = () => {
    const own = notice()
    store.putNotice(own.name, JSON.stringify(own), clock.now() + HOLDS_MS).catch(() => 'told again soon')
  }
  const timer: Timer = clock.every(PUT_UP_EVERY_MS, putUp)
  clock.soon(putUp)

  return {
    async read() {
      const own = notice()
      const read = await store.notices(clock.now()).catch(() => new Map<string, string>())
      read.delete(own.name)
      const others = [...read.values()].map((text) => JSON.parse(text) as ProcessNotice)
      return [own, ...others].sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    stop: () => timer.stop(),
  }
}
