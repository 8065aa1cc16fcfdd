// Puts every change into the Kafka topic `presence.changes`, in the order of each user and at least once. While Kafka
// is away the batch is handed out again; the change log keeps what comes meanwhile.
import type { ChangeLog, LogConsumer, LogRecord } from '../log/port.ts'

export function createKafkaRelay(changes: Pick<ChangeLog, 'append'>): LogConsumer {
  return {
    async handle(_partition, entries) {
      const records = entries.flatMap(({ userId, text }): LogRecord[] =>
        userId === null ? [] : [{ userId, text }],
      )
      await changes.append(records)
    },
  }
}
