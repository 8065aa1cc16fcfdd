// The textbook design for the same users and the same Redis: each heartbeat writes a key with a time to live,
// and each user has a channel that the gateways of the watchers subscribe to. Done well: keys are written many
// at a time, and a gateway subscribes to a channel once for all its clients.
import { type Gateways, sum } from './gateways.ts'
import type { Figure, Sheet } from './sheet.ts'
import { mastersFor } from './stores.ts'
import type { Traffic } from './traffic.ts'
import type { Workload } from './workload.ts'

const MICRO = 1e-6

export interface Textbook {
  writes: Figure
  cpu: { beats: Figure; messages: Figure; watches: Figure }
  cores: Figure
  coresOneByOne: Figure
  memoryBytes: Figure
  masters: Figure
  gatewayCores: Figure
  silentSeconds: Figure
}

export function textbookOf(workload: Workload, traffic: Traffic, gateways: Gateways, sheet: Sheet): Textbook {
  const { contacts } = workload
  const { figure, constant } = sheet
  const writes = figure('writes to Redis', 'a second', () => {
    return traffic.connections.value / constant('textbook_beat_seconds') + traffic.connects.value
  })
  const follows = () => 2 * traffic.connects.value * contacts
  const passed = () => traffic.changes.value * gateways.interested.value
  const cpu = {
    beats: figure('keys', 'cores', () => writes.value * constant('textbook_beat_us') * MICRO),
    messages: figure('messages', 'cores', () => passed() * constant('redis_message_us') * MICRO),
    watches: figure('channels and snapshots', 'cores', () => {
      const reads = traffic.connects.value * contacts * constant('redis_read_us')
      return (follows() * constant('textbook_subscribe_us') + reads) * MICRO
    }),
  }
  const cores = figure('cores at work', '', () => sum(Object.values(cpu)))
  const coresOneByOne = figure('cores, when each key is written by itself', '', () => {
    // Then it costs what any single command does.
    const further = Math.max(0, constant('redis_load_us') - constant('textbook_beat_us'))
    return cores.value + writes.value * further * MICRO
  })
  const memoryBytes = figure('memory', 'bytes', () => {
    return (
      traffic.online.value * constant('textbook_key_bytes') +
      gateways.pairs.value * constant('textbook_subscription_bytes')
    )
  })
  const masters = figure('masters', '', () => mastersFor(cores.value, memoryBytes.value, workload))
  const gatewayCores = figure('cores of gateways for writing keys', '', () => {
    return writes.value * constant('textbook_beat_cpu_us') * MICRO
  })
  // A key outlives one missed write, or every lost packet would be a departure.
  const silentSeconds = figure('seconds until a lost user is noticed', '', () => {
    return 2 * constant('textbook_beat_seconds')
  })
  return { writes, cpu, cores, coresOneByOne, memoryBytes, masters, gatewayCores, silentSeconds }
}
