// ChangeLog in a Kafka topic. The key of a record is the user id, spread over the partitions as Kafka's own clients do,
// so that foreign producers and this one agree on the partition of a user. While Kafka is away an append rejects soon
// and consumers wait for it by themselves.
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { within } from '../platform/within.ts'
import { createAppending } from './appending.ts'
import { createConsumptions } from './consumptions.ts'
import { checkGroupName } from './group-name.ts'
import { createHanding } from './handing.ts'
import { clientOptions, createOutage, type KafkaAccess, loadKafka, reasonOf } from './kafka-clients.ts'
import { startKafkaConsumer } from './kafka-consumer.ts'
import { createKafkaOffsets } from './kafka-offsets.ts'
import { openTopic } from './kafka-topic.ts'
import type { ChangeLog } from './port.ts'

const PARTITIONS = 64
const RETENTION_MS = 7 * 24 * 3_600_000
const APPEND_MS_MAX = 5_000
const SESSION_MS = 10_000
const HEARTBEAT_MS = 1_000
const REBALANCE_MS = 30_000
const READ_MS_MAX = 5_000
const ASK_MS_MAX = 5_000
const CLOSE_MS_MAX = 2_000
const PAUSE_MS = 100
const ALL_REPLICAS = -1

export interface KafkaLogOptions extends KafkaAccess {
  /** Created if it is missing. */
  topic: string
  clock: Clock
  logger: Logger
  /** For a topic that is created; one that exists keeps its own number. */
  partitions?: number
  replicas?: number
  retentionMs?: number
  /** How much a partition keeps; without it there is no bound by size. */
  retentionBytes?: number
  /** An append that is not acknowledged in this time rejects. Its records may be written nevertheless. */
  appendMs?: number
  /** After this time a consumer that died is replaced. */
  sessionMs?: number
  /** The first pause after a batch was rejected. */
  pauseMs?: number
}

/** Rejects with the reason when Kafka cannot be reached. */
export async function openKafkaLog(options: KafkaLogOptions): Promise<ChangeLog> {
  const {
    topic,
    clock,
    logger,
    appendMs = APPEND_MS_MAX,
    sessionMs = SESSION_MS,
    pauseMs = PAUSE_MS,
  } = options
  const kafka = await loadKafka()
  const outage = createOutage(logger, options.brokers, 'append')
  const asking = clientOptions(options, { requestMs: ASK_MS_MAX, retries: 3 })
  const admin = new kafka.Admin(asking)
  let partitionCount: number
  try {
    const topicOptions = {
      partitions: options.partitions ?? PARTITIONS,
      replicas: options.replicas ?? null,
      retentionMs: options.retentionMs ?? RETENTION_MS,
      retentionBytes: options.retentionBytes ?? null,
    }
    partitionCount = await openTopic(kafka, admin, topic, topicOptions, clock)
  } catch (error) {
    void admin.close().catch(() => {})
    throw new Error(`Kafka at ${options.brokers.join(',')} cannot be used: ${reasonOf(error)}`)
  }
  const producer = new kafka.Producer(clientOptions(options, { requestMs: appendMs, retries: 1 }))
  const offsets = createKafkaOffsets(admin, topic, partitionCount, clock)
  const consumptions = createConsumptions()
  let isClosed = false

  const appending = createAppending(async (_, records) => {
    try {
      await producer.send({
        messages: records.map(({ userId, text }) => ({
          topic,
          key: Buffer.from(userId),
          value: Buffer.from(text),
        })),
        acks: ALL_REPLICAS,
        partitioner: kafka.compatibilityPartitioner,
      })
      outage.back()
    } catch (error) {
      producer.clearMetadata()
      outage.away(error)
      throw new Error(`kafka: ${reasonOf(error)}`)
    }
  })

  const answered = <Value>(what: string, work: Promise<Value>, msMax: number): Promise<Value> =>
    within(clock, msMax, work, () => {
      throw new Error(`kafka: no answer to ${what} in ${msMax} ms`)
    })

  function checkOpen(): void {
    if (isClosed) throw new Error('the log is closed')
  }

  return {
    partitionCount,
    async append(records) {
      checkOpen()
      // One lane: Kafka takes a write for all partitions at once.
      await answered('an append', appending.put(0, records), appendMs)
    },
    async consume(group, start, consumer) {
      checkOpen()
      checkGroupName(group)
      await offsets.begin(group, start)
      const rebalanceMs = Math.max(REBALANCE_MS, sessionMs)
      // The answer to a join may take as long as the slowest member.
      const base = clientOptions(options, { requestMs: sessionMs + rebalanceMs, retries: 0 })
      const reader = new kafka.Consumer({
        ...clientOptions(options, { requestMs: READ_MS_MAX, retries: 0 }),
        groupId: group,
      })
      reader.topics.track(topic)
      const consumption = startKafkaConsumer({
        kafka,
        membership: {
          base,
          group,
          topic,
          sessionMs,
          heartbeatMs: Math.min(HEARTBEAT_MS, sessionMs / 5),
          rebalanceMs,
        },
        reader,
        offsets,
        consumer,
        handing: createHanding({ group, consumer, pauseMs, clock, logger }),
        outage: createOutage(logger, options.brokers, `group ${group}`),
        clock,
      })
      return consumptions.add(consumption)
    },
    async rewind(group, partition, offset) {
      checkOpen()
      if (!(partition >= 0 && partition < partitionCount)) throw new RangeError(`no partition ${partition}`)
      if (offset !== null && !/^\d+$/.test(offset)) throw new Error(`not an offset: ${offset}`)
      const from = offset === null ? (await offsets.bounds()).oldest[partition]! : BigInt(offset) + 1n
      await offsets.set(group, new Map([[partition, from]])).catch((error: unknown) => {
        throw new Error(`${group} cannot be set back, perhaps because it is reading: ${reasonOf(error)}`)
      })
    },
    async lag(group) {
      const [committed, { oldest, next }] = await Promise.all([offsets.committed(group), offsets.bounds()])
      let lag = 0n
      for (const [partition, end] of next.entries()) {
        const from = committed[partition] ?? 0n
        lag += end - (from > oldest[partition]! ? from : oldest[partition]!)
      }
      return Number(lag)
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await consumptions.stopAll()
      const closing = appending.idle().then(() => Promise.allSettled([producer.close(), admin.close()]))
      await answered('closing', closing, CLOSE_MS_MAX).catch(() => {})
    },
  }
}
