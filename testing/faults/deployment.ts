// The servers of a fault test: Redis or a Redis Cluster, a database schema of its own, Kafka where it is asked for, and
// greendot processes with one role each. All are real processes that a test can break; `stop` ends all of them.
import type { SettingsInput } from '../clients/server.ts'
import { type Kafka, startKafka } from '../services/kafka.ts'
import { LOOPBACK } from '../services/ports.ts'
import type { Postgres } from '../services/postgres.ts'
import { type Redis, startRedis } from '../services/redis.ts'
import { type RedisCluster, startRedisCluster } from '../services/redis-cluster.ts'
import { type Greendot, type GreendotOptions, startGreendot } from './process.ts'
import { startProxy, type TcpProxy } from './proxy.ts'

/** Shorter than the defaults, in about the same proportions. */
export const TIMES = {
  heartbeat_interval_ms: 1_000,
  heartbeat_ttl_ms: 3_000,
  offline_delay_ms: 1_500,
  gateway_lease_ms: 3_000,
}
/** A change is visible within this time after its deadline. */
export const VISIBLE_MS = 1_000
export const DRAIN_MS = 3_000
export const WATCH_LIMIT = 500

const { gateway_lease_ms, offline_delay_ms, heartbeat_ttl_ms } = TIMES
/** How long a user may be shown as online after the departure, by kind of departure. */
export const GHOST_MS_MAX = {
  left: VISIBLE_MS,
  closed: offline_delay_ms + VISIBLE_MS,
  silent: heartbeat_ttl_ms + offline_delay_ms + VISIBLE_MS,
  'cut off': gateway_lease_ms + offline_delay_ms + VISIBLE_MS,
}

export interface DeploymentOptions {
  postgres: Postgres
  redis?: 'single' | 'cluster'
  /** The streaming deployment: updates go through Kafka, presence processes own users, and one process fans out. */
  hasKafka?: boolean
  gateways?: number
  presences?: number
  /** Instead of separate roles: this many whole servers behind one port. */
  workers?: number
  settings?: SettingsInput
  /** The first gateway reaches Redis through a proxy that can break the connection. */
  hasProxy?: boolean
  /** How far the clock of each process is ahead, gateways first. */
  skewsMs?: readonly number[]
}

export interface Deployment {
  /** The single server; there is none where the deployment has a cluster. */
  redis(): Redis
  cluster(): RedisCluster
  /** With `hasKafka`. */
  kafka(): Kafka
  /** Between the first gateway and Redis, with `hasProxy`. */
  proxy(): TcpProxy
  databaseUrl: string
  readonly gateways: Greendot[]
  readonly presences: Greendot[]
  /** The addresses that clients may connect to. */
  gatewayUrls(): readonly string[]
  /** Starts one more process; the caller adds it to `gateways` or `presences`. */
  start(command: GreendotOptions['command'], extra?: SettingsInput, skewMs?: number): Promise<Greendot>
  stop(): Promise<void>
}

export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const { postgres, workers = 0, gateways = 2, presences = 2, skewsMs = [] } = options
  const isCluster = options.redis === 'cluster'
  const [single, cluster, kafka] = await Promise.all([
    isCluster ? null : startRedis(),
    isCluster ? startRedisCluster() : null,
    options.hasKafka === true ? startKafka() : null,
  ])
  const proxy = options.hasProxy === true && single !== null ? await startProxy(single.port) : null
  const databaseUrl = await postgres.newSchema()
  const settings: SettingsInput = {
    dev: true,
    port: 0,
    grpc_port: 'off',
    log_level: process.env.GREENDOT_FAULTS_LOG ?? 'silent',
    drain_ms: DRAIN_MS,
    watch_limit: WATCH_LIMIT,
    redis_url: (single ?? cluster)!.url,
    database_url: databaseUrl,
    database_pool: 4,
    ...(kafka && { kafka_brokers: kafka.broker }),
    ...TIMES,
    ...options.settings,
  }
  const started: Greendot[] = []

  async function start(command: GreendotOptions['command'], extra: SettingsInput = {}, skewMs = 0) {
    const one = await startGreendot({ command, settings: { ...settings, ...extra }, skewMs })
    started.push(one)
    return one
  }

  async function stop(): Promise<void> {
    // A parent of workers ends them only when it is stopped in order.
    await Promise.all(started.map((one) => (!one.isRunning() ? null : workers > 0 ? one.stop() : one.kill())))
    await Promise.all([single?.stop(), cluster?.stop(), kafka?.stop(), proxy?.stop()])
  }

  const deployment: Deployment = {
    redis: () => single!,
    cluster: () => cluster!,
    kafka: () => kafka!,
    proxy: () => proxy!,
    databaseUrl,
    gateways: [],
    presences: [],
    gatewayUrls: () => deployment.gateways.map(({ url }) => url),
    start,
    stop,
  }
  try {
    if (workers > 0) {
      deployment.gateways.push(await start('serve', { workers }))
      return deployment
    }
    // One after the other: the first creates the tables.
    for (let index = 0; index < gateways + presences; index++) {
      const isGateway = index < gateways
      const extra: SettingsInput =
        index === 0 && proxy !== null ? { redis_url: `redis://${LOOPBACK}:${proxy.port}` } : {}
      const one = await start(isGateway ? 'gateway' : 'presence', extra, skewsMs[index])
      ;(isGateway ? deployment.gateways : deployment.presences).push(one)
    }
    if (kafka !== null) await start('fanout')
  } catch (error) {
    await stop()
    throw error
  }
  return deployment
}
