// Offsets of partitions that were handled, kept in Kafka together. Otherwise every batch of every partition would be a
// request of its own, many for each fetch. What was handled in the last moment before a process died is handed out again.
import type { Clock, Timer } from '../platform/clock.ts'

/** Offsets gather for this long. */
const GATHER_MS = 50

export interface KafkaCommits<Held> {
  /** This partition has a newer offset. */
  put(partition: number, held: Held): void
  /** Resolves when all that was put is committed, or could not be. */
  flush(): Promise<void>
}

/** `send` reads the offsets when it is called. If it fails, later commits make up for it. */
export function createKafkaCommits<Held>(
  clock: Clock,
  send: (handled: ReadonlyMap<number, Held>) => Promise<unknown>,
): KafkaCommits<Held> {
  let waiting = new Map<number, Held>()
  let timer: Timer | null = null
  let sending: Promise<void> | null = null

  async function sendAll(): Promise<void> {
    while (waiting.size > 0) {
      const handled = waiting
      waiting = new Map()
      await send(handled).catch(() => {})
    }
  }

  async function flush(): Promise<void> {
    timer?.stop()
    timer = null
    while (waiting.size > 0 || sending !== null) {
      sending ??= sendAll().finally(() => {
        sending = null
      })
      await sending
    }
  }

  return {
    put(partition, held) {
      waiting.set(partition, held)
      timer ??= clock.after(GATHER_MS, () => void flush())
    },
    flush,
  }
}
