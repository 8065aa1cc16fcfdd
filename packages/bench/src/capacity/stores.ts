// What stands behind the gateways: Redis for the hot state and for messages, PostgreSQL for durable state.
import { type Gateways, GB, sum } from './gateways.ts'
import type { Figure, Sheet } from './sheet.ts'
import type { Traffic } from './traffic.ts'
import type { Workload } from './workload.ts'

const MICRO = 1e-6
/** The default of `redis_shards`, and the most that it may be. */
const SHARDS_MIN = 64
export const SHARDS_MAX = 4_096
// Shards of a master, at least. They are spread by hash, so with few of them some masters would have far more than others.
// With many of them, gateways and sweepers look at more of them every second.
const SHARDS_PER_MASTER = 4
/** One core does the work of a Redis; the others are for the kernel. */
const REDIS_CORES = 1

export interface RedisPlan {
  cpu: { commits: Figure; messages: Figure; watches: Figure }
  cores: Figure
  memory: { users: Figure; interest: Figure }
  memoryBytes: Figure
  masters: Figure
  /** What `redis_shards` should be. */
  shards: Figure
  servers: Figure
}

export function redisOf(workload: Workload, traffic: Traffic, gateways: Gateways, sheet: Sheet): RedisPlan {
  const { contacts } = workload
  const { figure, constant } = sheet
  const cpu = {
    commits: figure('loads and commits', 'cores', () => {
      return gateways.commits.value * (constant('redis_load_us') + constant('redis_commit_us')) * MICRO
    }),
    messages: figure('messages', 'cores', () => {
      return gateways.messages.value * constant('redis_message_us') * MICRO
    }),
    watches: figure('interest and snapshots', 'cores', () => {
      const interest = gateways.registrations.value * constant('redis_interest_us')
      return (interest + traffic.connects.value * contacts * constant('redis_read_us')) * MICRO
    }),
  }
  const memory = {
    users: figure('users', 'bytes', () => {
      return traffic.online.value * constant('redis_hot_share') * constant('redis_user_bytes')
    }),
    interest: figure('interest', 'bytes', () => gateways.pairs.value * constant('redis_interest_bytes')),
  }
  const cores = figure('cores at work', '', () => sum(Object.values(cpu)))
  const memoryBytes = figure('memory', 'bytes', () => sum(Object.values(memory)))
  const masters = figure('masters', '', () => mastersFor(cores.value, memoryBytes.value, workload))
  const shards = figure('shards (redis_shards)', '', () => shardsFor(masters.value))
  const servers = figure('servers, replicas included', '', () => masters.value * (1 + workload.replicas))
  return { cpu, cores, memory, memoryBytes, masters, shards, servers }
}

/** A power of two. */
function shardsFor(masters: number): number {
  const wanted = 2 ** Math.ceil(Math.log2(masters * SHARDS_PER_MASTER))
  return Math.min(SHARDS_MAX, Math.max(SHARDS_MIN, wanted))
}

/** Masters that this much CPU time and memory take. */
export function mastersFor(cores: number, memoryBytes: number, workload: Workload): number {
  const { redisMemoryGb, utilisation } = workload
  const byCpu = cores / (REDIS_CORES * utilisation)
  const byMemory = memoryBytes / (redisMemoryGb * GB * utilisation)
  return Math.max(1, Math.ceil(Math.max(byCpu, byMemory)))
}

export interface PostgresPlan {
  users: Figure
  contacts: Figure
  writes: Figure
  bytes: Figure
  servers: Figure
}

export function postgresOf(workload: Workload, traffic: Traffic, sheet: Sheet): PostgresPlan {
  const { users, contacts, utilisation } = workload
  const { figure, constant } = sheet
  const userRows = figure('rows of users', '', () => users)
  const contactRows = figure('rows of contacts, if kept here', '', () => users * contacts)
  // One when a user comes online and one when the user goes offline.
  const writes = figure('writes, in batches', 'a second', () => 2 * traffic.connects.value)
  const bytes = figure('disk', 'bytes', () => {
    return (
      userRows.value * constant('postgres_user_bytes') +
      contactRows.value * constant('postgres_contact_bytes')
    )
  })
  const servers = figure('primaries', '', () => {
    return Math.max(1, Math.ceil(writes.value / (constant('postgres_writes_max') * utilisation)))
  })
  return { users: userRows, contacts: contactRows, writes, bytes, servers }
}
