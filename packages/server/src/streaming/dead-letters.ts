// Records that could not be read go to a topic of their own, with the reason and where they came from, so that a
// partition never stops at one. A letter is far smaller than the largest record that Kafka takes, whatever it holds.
// Nothing of a record is logged, and not the reason either, which may quote it: it may hold anything.
import { isId } from '@greendot/protocol'
import type { ChangeLog, LogEntry } from '../log/port.ts'
import type { Logger } from '../platform/logger.ts'

// Of a record that is kept as a dead letter. A character takes at most six bytes, so a letter has less than 400 KB.
const TEXT_CHARS_MAX = 64_000
const KEY_CHARS_MAX = 200
const REASON_CHARS_MAX = 200
/** The key of letters whose record has none that is a user id. */
const NO_USER = 'unknown'

export interface DeadLetters {
  put(partition: number, entry: LogEntry, reason: string): Promise<void>
  count(): number
}

export function createDeadLetters(
  dead: Pick<ChangeLog, 'append'>,
  topic: string,
  logger: Logger,
): DeadLetters {
  let count = 0
  return {
    async put(partition, { userId, text, offset }, problem) {
      const reason = problem.slice(0, REASON_CHARS_MAX)
      const key = userId?.slice(0, KEY_CHARS_MAX) ?? null
      const record = text.slice(0, TEXT_CHARS_MAX)
      const letter = { type: 'dead_letter', v: 1, topic, partition, offset, reason, key, record }
      await dead.append([{ userId: isId(userId) ? userId : NO_USER, text: JSON.stringify(letter) }])
      count++
      logger.warn(
        { topic, partition, offset },
        'a record was put aside as a dead letter, which has the reason',
      )
    },
    count: () => count,
  }
}
