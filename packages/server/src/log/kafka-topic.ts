// The topic of a change log: created if it is missing, and left as it is otherwise. The number of its partitions
// decides where users are, so nothing here changes it.
import type { Admin, GenericError } from '@platformatic/kafka'
import type { Clock } from '../platform/clock.ts'
import type { KafkaLibrary } from './kafka-clients.ts'
import { createKafkaOffsets } from './kafka-offsets.ts'

/**
 * The broker undoes what producers compress. The library cannot read what the one for Java makes of snappy, and a fetch
 * that meets such a batch fails for all partitions of its leader.
 */
const COMPRESSION = 'uncompressed'
const LOOKS_MAX = 50
const LOOK_EVERY_MS = 100

export interface TopicOptions {
  partitions: number
  replicas: number | null
  retentionMs: number
  retentionBytes: number | null
}

/** Returns how many partitions it has. */
export async function openTopic(
  kafka: KafkaLibrary,
  admin: Admin,
  topic: string,
  options: TopicOptions,
  clock: Clock,
): Promise<number> {
  const { partitions, replicas, retentionMs, retentionBytes } = options
  if (!(await admin.listTopics()).includes(topic)) {
    const configs = [
      { name: 'compression.type', value: COMPRESSION },
      { name: 'retention.ms', value: String(retentionMs) },
      ...(retentionBytes === null ? [] : sizeConfigs(retentionBytes)),
    ]
    try {
      await admin.createTopics({
        topics: [topic],
        partitions,
        configs,
        ...(replicas === null ? {} : { replicas }),
      })
    } catch (error) {
      // Another process may have created it meanwhile.
      if (!isTaken(kafka, error)) throw error
    }
  }
  // A new topic has no leaders for a moment, and then leaders that do not know of it yet.
  for (let look = 1; ; look++) {
    try {
      const metadata = await admin.metadata({ topics: [topic], forceUpdate: true })
      const { partitionsCount } = metadata.topics.get(topic)!
      await createKafkaOffsets(admin, topic, partitionsCount, clock).bounds()
      return partitionsCount
    } catch (error) {
      if (look === LOOKS_MAX) throw error
    }
    await clock.sleep(LOOK_EVERY_MS)
  }
}

/** The library puts what a broker answered into an error of several, which is no `GenericError` by its class. */
function isTaken({ GenericError }: KafkaLibrary, error: unknown): boolean {
  const isOfLibrary = error instanceof Error && GenericError.isGenericError(error)
  return isOfLibrary && (error as GenericError).findBy('apiId', 'TOPIC_ALREADY_EXISTS') !== null
}

/** Kafka removes whole segments, so these must be smaller than what is kept. A megabyte is the least it takes. */
function sizeConfigs(retentionBytes: number): { name: string; value: string }[] {
  const segmentBytes = Math.max(1_048_576, Math.min(1_073_741_824, Math.floor(retentionBytes / 4)))
  return [
    { name: 'retention.bytes', value: String(retentionBytes) },
    { name: 'segment.bytes', value: String(segmentBytes) },
  ]
}
