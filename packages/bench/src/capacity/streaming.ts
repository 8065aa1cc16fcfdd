// What the streaming deployment takes besides: owners that apply updates, the fan-out that relays changes, Kafka, and the
// change log in Redis. CPU times are those of one run through real processes, so they hold all the parts of a hop.
import type { Gateways } from './gateways.ts'
import type { Figure, Sheet } from './sheet.ts'
import type { RedisPlan } from './stores.ts'
import type { Workload } from './workload.ts'

const MICRO = 1e-6
/** Entries of the change log that a shard keeps; the server has the same number. */
const LOG_ENTRIES_MAX = 20_000

export interface StreamingPlan {
  updates: Figure
  bytes: Figure
  owners: Figure
  ownerCores: Figure
  partitions: Figure
  fanoutCores: Figure
  kafkaCores: Figure
  redisCores: Figure
  logCores: Figure
  logBytes: Figure
}

export function streamingOf(
  workload: Workload,
  gateways: Gateways,
  redis: RedisPlan,
  sheet: Sheet,
): StreamingPlan {
  const { utilisation } = workload
  const { figure, constant } = sheet
  // Sessions that begin and end, and changes. Nearly each of them is a visible change, so as many come out.
  const updates = figure('updates in, changes out', 'a second', () => gateways.commits.value)
  const bytes = figure('bandwidth into Kafka, each way once', 'bytes a second', () => {
    return updates.value * (constant('kafka_event_bytes') + constant('kafka_change_bytes'))
  })
  const cores = (label: string, each: () => number) =>
    figure(label, 'cores', () => updates.value * each() * MICRO)
  const ownerCores = cores('owners', () => constant('owner_cpu_us'))
  const owners = figure('processes that own users, one for each core', '', () => {
    return Math.max(1, Math.ceil(ownerCores.value / utilisation))
  })
  // A partition has one owner at a time, and an owner has one core.
  const partitions = figure('partitions, at least', '', () => owners.value)
  return {
    updates,
    bytes,
    owners,
    ownerCores,
    partitions,
    fanoutCores: cores('fan-out', () => constant('fanout_cpu_us')),
    kafkaCores: cores('Kafka, without replicas', () => constant('kafka_cpu_us')),
    redisCores: cores('Redis, instead of its loads and commits above', () => constant('redis_update_us')),
    logCores: cores('  the change log in it', () => constant('redis_log_us')),
    logBytes: figure('memory of Redis for the log, at most', 'bytes', () => {
      return redis.shards.value * LOG_ENTRIES_MAX * constant('redis_log_bytes')
    }),
  }
}
