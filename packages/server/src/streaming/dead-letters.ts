// Records that could not be read go to a topic of their own, with the reason and where they came from, so that a
// partition never stops at one. Nothing of a record is logged: it may hold anything.
import type { ChangeLog, LogEntry } from '../log/port.ts'
import type { Logger } from '../platform/logger.ts'

/** Of a record that is kept as a dead letter. */
const TEXT_CHARS_MAX = 64_000

export interface DeadLetters {
  put(partition: number, entry: LogEntry, reason: string): Promise<void>
  count(): number
}

export function createDeadLetters(dead: ChangeLog, topic: string, logger: Logger): DeadLetters {
  let count = 0
  return {
    async put(partition, { userId, text, offset }, reason) {
      const letter = { type: 'dead_letter', v: 1, topic, partition, offset, reason, key: userId }
      const record = text.slice(0, TEXT_CHARS_MAX)
      await dead.append([{ userId: userId ?? 'unknown', text: JSON.stringify({ ...letter, record }) }])
      count++
      logger.warn({ topic, partition, offset, reason }, 'a record was put aside as a dead letter')
    },
    count: () => count,
  }
}
