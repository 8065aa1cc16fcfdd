// Reads records of partitions from Kafka, on connections of its own: a fetch waits for records, and heartbeats must not
// wait behind it. What one fetch brings is bounded.
import type { Consumer } from '@platformatic/kafka'
import type { KafkaLibrary } from './kafka-clients.ts'
import type { LogEntry } from './port.ts'

const PARTITION_BYTES_MAX = 256 * 1024
const FETCH_BYTES_MAX = 8 * 1024 * 1024

export interface Fetched {
  entries: LogEntry[]
  /** The offset after what was read, also if that was no record. */
  next: bigint
}

/**
 * Records from these offsets on, by partition; Kafka waits this long for the first. An offset that it does not have any
 * more rejects.
 */
export async function fetchRecords(
  kafka: KafkaLibrary,
  reader: Consumer,
  topic: string,
  offsets: ReadonlyMap<number, bigint>,
  waitMs: number,
): Promise<Map<number, Fetched>> {
  const metadata = await reader.metadata({ topics: [topic] })
  const { id, partitions } = metadata.topics.get(topic)!
  const byLeader = Map.groupBy(offsets.keys(), (partition) => partitions[partition]!.leader)
  const fetched = new Map<number, Fetched>()
  await Promise.all(
    Array.from(byLeader, async ([node, led]) => {
      const { responses } = await reader.fetch({
        node,
        minBytes: 1,
        maxBytes: FETCH_BYTES_MAX,
        maxWaitTime: waitMs,
        topics: [
          {
            topicId: id,
            partitions: led.map((partition) => ({
              partition,
              currentLeaderEpoch: -1,
              fetchOffset: offsets.get(partition)!,
              lastFetchedEpoch: -1,
              partitionMaxBytes: PARTITION_BYTES_MAX,
            })),
          },
        ],
      })
      for (const { partitionIndex, records = [] } of responses.flatMap((response) => response.partitions)) {
        const from = offsets.get(partitionIndex)!
        const one: Fetched = { entries: [], next: from }
        for (const batch of records) {
          const after = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n
          if (after > one.next) one.next = after
          if ((batch.attributes & kafka.IS_CONTROL) !== 0) continue
          for (const { offsetDelta, key, value } of batch.records) {
            const offset = batch.firstOffset + BigInt(offsetDelta)
            // A batch is sent whole, also if the offset is in the middle of it.
            if (offset < from) continue
            one.entries.push({
              userId: key?.toString() ?? null,
              text: value?.toString() ?? '',
              offset: String(offset),
            })
          }
        }
        if (one.next > from) fetched.set(partitionIndex, one)
      }
    }),
  )
  return fetched
}

export const isOutOfRange = (error: unknown): boolean =>
  error instanceof Error && /OFFSET_OUT_OF_RANGE/.test(apiIdsOf(error))

/** The library nests the errors of partitions. */
function apiIdsOf(error: Error): string {
  const nested = 'errors' in error && Array.isArray(error.errors) ? error.errors : []
  const own = 'apiId' in error ? String(error.apiId) : ''
  return [own, ...nested.map((one: unknown) => (one instanceof Error ? apiIdsOf(one) : ''))].join(' ')
}
