// Redis, PostgreSQL and Kafka for the tests of a file, and servers of a streaming deployment on them. Where one of the
// three cannot be had, none is used.
import { openKafkaLog } from '../../packages/server/src/log/kafka.ts'
import type { ChangeLog, LogEntry } from '../../packages/server/src/log/port.ts'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { randomName } from '../../packages/server/src/platform/ids.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import type { SettingsInput } from '../clients/server.ts'
import { foundBoth, type Services, startBoth } from '../e2e/both-services.ts'
import type { Found } from '../services/found.ts'
import { findKafka, type Kafka, startKafka } from '../services/kafka.ts'
import { WAIT_MS } from '../services/within.ts'

const kafka = await findKafka()
export const foundAll: Found = kafka.state === 'missing' ? kafka : foundBoth

export interface StreamingServices extends Services {
  kafka: Kafka
  /** What every server of the deployment is started with. */
  settings(): Promise<SettingsInput>
  openTopic(topic: string): Promise<ChangeLog>
  stop(): Promise<void>
}

export async function startAll(): Promise<StreamingServices> {
  const [both, kafka] = await Promise.all([startBoth(), startKafka()])
  const logs: ChangeLog[] = []
  return {
    ...both,
    kafka,
    async settings() {
      return {
        redis_url: both.redis.url,
        database_url: await both.postgres.newSchema(),
        database_pool: 4,
        kafka_brokers: kafka.broker,
      }
    },
    async openTopic(topic) {
      const logger = createLogger({ level: 'silent' })
      const brokers = [kafka.broker]
      const log = await openKafkaLog({ brokers, topic, appendMs: WAIT_MS, clock: systemClock, logger })
      logs.push(log)
      return log
    },
    async stop() {
      await Promise.all(logs.map((log) => log.close()))
      await Promise.all([both.stop(), kafka.stop()])
    },
  }
}

/** Everything a topic holds from now on or has held, as it comes. */
export async function readAll<Value>(log: ChangeLog): Promise<{ values: Value[]; entries: LogEntry[] }> {
  const [values, entries]: [Value[], LogEntry[]] = [[], []]
  await log.consume(randomName('test-'), 'oldest', {
    async handle(_, read) {
      entries.push(...read)
      values.push(...read.map(({ text }) => JSON.parse(text) as Value))
    },
  })
  return { values, entries }
}
