// The servers of a fault test: Redis or a Redis Cluster, a database of its own, and greendot processes
// with one role each. Everything is real and can be broken; everything ends with the world.
import type { SettingsInput } from '../server.ts'
import { LOOPBACK } from '../services/ports.ts'
import type { Postgres } from '../services/postgres.ts'
import { type Redis, startRedis } from '../services/redis.ts'
import { type RedisCluster, startRedisCluster } from '../services/redis-cluster.ts'
import { type Greendot, type GreendotOptions, startGreendot } from './process.ts'
import { openWay, type Way } from './proxy.ts'

/** Shorter than in real life, in about the same proportions. */
export const TIMES = {
  heartbeat_interval_ms: 1_000,
  heartbeat_ttl_ms: 3_000,
  offline_delay_ms: 1_500,
  gateway_lease_ms: 3_000,
}
/** What may pass between the end of a wait and its being visible. */
export const VISIBLE_MS = 1_000
export const DRAIN_MS = 3_000
export const WATCH_LIMIT = 500

const { gateway_lease_ms, offline_delay_ms, heartbeat_ttl_ms } = TIMES
/** How long somebody gone may be shown as here, by how they went. */
export const GHOST_MS_MAX = {
  left: VISIBLE_MS,
  closed: offline_delay_ms + VISIBLE_MS,
  silent: heartbeat_ttl_ms + offline_delay_ms + VISIBLE_MS,
  'cut off': gateway_lease_ms + offline_delay_ms + VISIBLE_MS,
}

export interface WorldOptions {
  postgres: Postgres
  redis?: 'single' | 'cluster'
  gateways?: number
  presences?: number
  /** Instead of those: this many whole servers behind one port. */
  workers?: number
  settings?: SettingsInput
  /** The first gateway reaches Redis through a way that can be broken. */
  hasWay?: boolean
  /** By position, gateways first; how far a process's clock is ahead. */
  skewsMs?: readonly number[]
}

export interface World {
  /** A single server; fails where the world has a cluster. */
  redis(): Redis
  cluster(): RedisCluster
  /** Between the first gateway and Redis, if the world has one. */
  way(): Way
  databaseUrl: string
  readonly gateways: Greendot[]
  readonly presences: Greendot[]
  /** Where clients may connect. */
  gatewayUrls(): readonly string[]
  /** Starts one more; the caller puts it where it belongs. */
  start(command: GreendotOptions['command'], extra?: SettingsInput, skewMs?: number): Promise<Greendot>
  stop(): Promise<void>
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const { postgres, workers = 0, gateways = 2, presences = 2, skewsMs = [] } = options
  const isCluster = options.redis === 'cluster'
  const [single, cluster] = await Promise.all([
    isCluster ? null : startRedis(),
    isCluster ? startRedisCluster() : null,
  ])
  const way = options.hasWay === true && single !== null ? await openWay(single.port) : null
  const databaseUrl = await postgres.newSchema()
  const settings: SettingsInput = {
    dev: true,
    port: 0,
    log_level: process.env.GREENDOT_FAULTS_LOG ?? 'silent',
    drain_ms: DRAIN_MS,
    watch_limit: WATCH_LIMIT,
    redis_url: (single ?? cluster)!.url,
    database_url: databaseUrl,
    database_pool: 4,
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
    // One that watches over workers takes them with it only if it is asked to.
    await Promise.all(started.map((one) => (!one.isRunning() ? null : workers > 0 ? one.stop() : one.kill())))
    await Promise.all([single?.stop(), cluster?.stop(), way?.stop()])
  }

  const world: World = {
    redis: () => single!,
    cluster: () => cluster!,
    way: () => way!,
    databaseUrl,
    gateways: [],
    presences: [],
    gatewayUrls: () => world.gateways.map(({ url }) => url),
    start,
    stop,
  }
  try {
    if (workers > 0) {
      world.gateways.push(await start('serve', { workers }))
      return world
    }
    // One after the other: the first makes the tables.
    for (let index = 0; index < gateways + presences; index++) {
      const isGateway = index < gateways
      const extra: SettingsInput =
        index === 0 && way !== null ? { redis_url: `redis://${LOOPBACK}:${way.port}` } : {}
      const one = await start(isGateway ? 'gateway' : 'presence', extra, skewsMs[index])
      ;(isGateway ? world.gateways : world.presences).push(one)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return world
}
