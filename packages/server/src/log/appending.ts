// Writes records in lanes. A lane has one write at a time; what comes meanwhile goes together in the next one. So the
// records of a lane are written in the order they were given, also when a command has to be sent twice.
import type { LogRecord } from './port.ts'

/** One write has at most so many. A character has at most three bytes, and Kafka takes a megabyte at a time. */
const WRITE_CHARS_MAX = 256 * 1024
const WRITE_RECORDS_MAX = 500
/** Given and not yet written, in all lanes. */
const WAITING_CHARS_MAX = 32 * 1024 * 1024

export interface Appending {
  /** Resolves when all of them are written. After a failure neither the rest of them nor what waits is written. */
  put(lane: number, records: readonly LogRecord[]): Promise<void>
  /** Resolves when nothing is being written. */
  idle(): Promise<void>
}

interface Put {
  records: readonly LogRecord[]
  /** How many of them are written. */
  written: number
  resolve(): void
  reject(error: unknown): void
}

const charsOf = ({ userId, text }: LogRecord): number => userId.length + text.length

export function createAppending(write: (lane: number, records: LogRecord[]) => Promise<void>): Appending {
  const lanes = new Map<number, Put[]>()
  const running = new Map<number, Promise<void>>()
  let waitingChars = 0

  /** The next records of a lane, and how many of each put. */
  function nextOf(puts: readonly Put[]): { records: LogRecord[]; parts: { put: Put; count: number }[] } {
    const records: LogRecord[] = []
    const parts: { put: Put; count: number }[] = []
    let chars = 0
    for (const put of puts) {
      const part = { put, count: 0 }
      parts.push(part)
      while (put.written + part.count < put.records.length) {
        const record = put.records[put.written + part.count]!
        chars += charsOf(record)
        if (records.length > 0 && (chars > WRITE_CHARS_MAX || records.length === WRITE_RECORDS_MAX)) {
          return { records, parts }
        }
        records.push(record)
        part.count++
      }
    }
    return { records, parts }
  }

  async function run(lane: number, puts: Put[]): Promise<void> {
    while (puts.length > 0) {
      const { records, parts } = nextOf(puts)
      try {
        await write(lane, records)
        for (const { put, count } of parts) put.written += count
        while (puts.length > 0 && puts[0]!.written === puts[0]!.records.length) puts.shift()!.resolve()
      } catch (error) {
        // What waits behind a failure would come before it, if its writer tries again.
        for (const put of puts.splice(0)) put.reject(error)
      }
    }
    lanes.delete(lane)
    running.delete(lane)
  }

  return {
    async put(lane, records) {
      if (records.length === 0) return
      const chars = records.reduce((sum, record) => sum + charsOf(record), 0)
      if (waitingChars + chars > WAITING_CHARS_MAX) throw new Error('too many records wait to be written')
      waitingChars += chars
      try {
        await new Promise<void>((resolve, reject) => {
          const put: Put = { records, written: 0, resolve, reject }
          const puts = lanes.get(lane)
          if (puts !== undefined) {
            puts.push(put)
            return
          }
          const started = [put]
          lanes.set(lane, started)
          running.set(lane, run(lane, started))
        })
      } finally {
        waitingChars -= chars
      }
    },
    async idle() {
      await Promise.all(running.values())
    },
  }
}
