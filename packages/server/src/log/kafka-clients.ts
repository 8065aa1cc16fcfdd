// The clients of the Kafka library, as the change log uses them. The library is loaded when a Kafka log is opened, so a
// deployment without Kafka does not load it. Errors become one short reason, because those of the library may hold
// whole requests.
import type { BaseOptions, CallbackWithPromise, Consumer } from '@platformatic/kafka'
import type { Logger } from '../platform/logger.ts'

export type KafkaLibrary = typeof import('@platformatic/kafka')
export const loadKafka = (): Promise<KafkaLibrary> => import('@platformatic/kafka')

export interface KafkaAccess {
  /** Some brokers of the cluster, each `host:port`. */
  brokers: readonly string[]
  tls?: boolean
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
}

const CONNECT_MS_MAX = 3_000

export interface KafkaPatience {
  /** Until an answer. */
  requestMs: number
  retries: number
}

export function clientOptions(access: KafkaAccess, { requestMs, retries }: KafkaPatience): BaseOptions {
  const { brokers, tls = false, sasl } = access
  return {
    clientId: 'greendot',
    bootstrapBrokers: [...brokers],
    connectTimeout: Math.min(requestMs, CONNECT_MS_MAX),
    requestTimeout: requestMs,
    timeout: requestMs,
    retries,
    retryDelay: 100,
    ...(tls ? { tls: {} } : {}),
    ...(sasl === undefined ? {} : { sasl }),
  }
}

export interface MemberOptions {
  base: BaseOptions
  group: string
  topic: string
  /** Without a sign of life for this long the group goes on without this member. */
  sessionMs: number
  heartbeatMs: number
  rebalanceMs: number
  /** Awaited before the member joins, and joins again when the partitions are shared anew. */
  beforeJoin(): Promise<void>
}

/**
 * A member of a group that ends what it does before it joins again. The library joins at once, and then another member
 * would be handed what this one is still handling.
 */
export function createMember(kafka: KafkaLibrary, options: MemberOptions): Consumer {
  const { base, group, topic, sessionMs, heartbeatMs, rebalanceMs, beforeJoin } = options

  class PatientConsumer extends kafka.Consumer {
    override [kafka.kPerformDeduplicated]<Result>(
      id: string,
      operation: (done: CallbackWithPromise<Result>) => void,
      callback: CallbackWithPromise<Result>,
    ) {
      const patient: typeof operation = (done) => void beforeJoin().then(() => operation(done))
      return super[kafka.kPerformDeduplicated](id, id === 'joinGroup' ? patient : operation, callback)
    }
  }

  const member = new PatientConsumer({
    ...base,
    groupId: group,
    sessionTimeout: sessionMs,
    heartbeatInterval: heartbeatMs,
    rebalanceTimeout: rebalanceMs,
  })
  member.topics.track(topic)
  return member
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const causes = 'errors' in error && Array.isArray(error.errors) ? error.errors : []
  return causes.length > 0 ? reasonOf(causes[0]) : error.message
}

export interface Outage {
  away(why: unknown): void
  back(): void
}

/** One line when Kafka goes and one when it comes back, for each part that needs it. */
export function createOutage(logger: Logger, brokers: readonly string[], part: string): Outage {
  let isAway = false
  const kafka = brokers.join(',')
  return {
    away(why) {
      if (isAway) return
      isAway = true
      logger.warn({ kafka, part, why: reasonOf(why) }, 'kafka is away')
    },
    back() {
      if (!isAway) return
      isAway = false
      logger.info({ kafka, part }, 'kafka is back')
    },
  }
}
