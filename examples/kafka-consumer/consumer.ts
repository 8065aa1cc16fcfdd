// Prints the changes of all users from the topic presence.changes. A record may come twice, so what is not newer than
// the last version of a user is dropped.

import type { StatusChangedRecord } from '@greendot/protocol'
import { Consumer } from '@platformatic/kafka'

const consumer = new Consumer({
  clientId: 'greendot-example',
  groupId: process.env.GROUP ?? 'greendot-example',
  bootstrapBrokers: (process.env.KAFKA_BROKERS ?? '127.0.0.1:9092').split(','),
})
const latest = new Map<string, number>()

function print(change: StatusChangedRecord): void {
  if (change.version <= (latest.get(change.user_id) ?? 0)) return
  latest.set(change.user_id, change.version)
  const text = change.custom_status?.text
  console.log(`${change.user_id}: ${change.old_status} -> ${change.new_status}${text ? ` "${text}"` : ''}`)
}

const stream = await consumer.consume({
  topics: ['presence.changes'],
  mode: 'committed',
  fallbackMode: 'earliest',
})
process.once('SIGINT', async () => {
  await consumer.close(true)
  process.exit(0)
})
for await (const { value } of stream) {
  const record = JSON.parse(value.toString()) as { type: string; v: number }
  // Other types may come later.
  if (record.type === 'status_changed' && record.v === 1) print(record as StatusChangedRecord)
}
