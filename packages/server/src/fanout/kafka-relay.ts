// Puts every change into the Kafka topic `presence.changes`, in the order of each user and at least once. While Kafka
// is away the batch is handed out again; the change log keeps what comes meanwhile. Records that are not about what is
// shown stay here.
import type { ChangeLog, LogConsumer, LogRecord } from '../log/port.ts'

/** How such a record begins. */
const AUDIENCE = '{"type":"visibility_changed"'

export function createKafkaRelay(changes: Pick<ChangeLog, 'append'>): LogConsumer {
  return {
    async handle(_partition, entries) {
      const records = entries.flatMap(({ userId, text }): LogRecord[] =>
        userId === null || text.startsWith(AUDIENCE) ? [] : [{ userId, text }],
      )
      await changes.append(records)
    },
  }
}
