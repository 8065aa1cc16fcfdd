// Gateways: CPU time by what it goes into, memory, and how many machines that makes. The number of
// gateways determines on how many of them a user is watched, so this is given a number of machines and
// returns how many are needed; the model looks for the number that returns itself.
import { expectedGateways } from './interest.ts'
import type { Figure, Sheet } from './sheet.ts'
import type { Traffic } from './traffic.ts'
import type { Workload } from './workload.ts'

export const GB = 1e9
const MICRO = 1e-6

/** What decides how many machines there are. */
export type Limit = 'CPU' | 'memory' | 'connections' | 'network'

export interface Gateways {
  processes: Figure
  /** Each is an open file. */
  processConnections: Figure
  interested: Figure
  pairs: Figure
  messages: Figure
  commits: Figure
  registrations: Figure
  cpu: {
    beats: Figure
    deliveries: Figure
    connects: Figure
    commits: Figure
    messages: Figure
    interest: Figure
    queries: Figure
  }
  cores: Figure
  memory: { connections: Figure; kernel: Figure; watched: Figure; processes: Figure }
  memoryBytes: Figure
  machines: Figure
  limit: Limit
}

export function gatewaysOf(workload: Workload, traffic: Traffic, sheet: Sheet, given: Figure): Gateways {
  const { users, contacts, devices, cores, memoryGb, networkGbps, utilisation, reserve } = workload
  const { processConnections } = workload
  const { beats, changes, deliveries, frames, connects, connections, bytesIn, bytesOut } = traffic
  const { figure, constant } = sheet
  const processes = figure('processes, one for each core', '', () => given.value * cores)
  // As many as there are while the reserve is down.
  const perProcess = figure('connections of a process, at most', '', () => {
    return Math.ceil(connections.value / ((given.value - reserve) * cores))
  })
  const interested = figure('gateways that a change goes to', '', () =>
    expectedGateways(processes.value, { contacts, online: workload.online, devices }),
  )
  // Offline users are watched as well.
  const pairs = figure('targets, summed over gateways', '', () => users * interested.value)
  const messages = figure(
    'messages between gateways',
    'a second',
    // To the gateways with watchers, and to the user's own devices.
    () => changes.value * (interested.value + devices),
  )
  // A change, a session that begins and one that ends are one commit each, and a load before it.
  const commits = figure('commits', 'a second', () => changes.value + 2 * connects.value)
  // As if no two connections of a gateway watched the same user: right for many gateways, too high for a few.
  const registrations = figure('interest added and removed', 'a second', () => {
    return 2 * connects.value * contacts
  })

  const cpu = {
    beats: figure('heartbeats', 'cores', () => beats.value * constant('beat_cpu_us') * MICRO),
    deliveries: figure('deliveries', 'cores', () => {
      const ownFrames = changes.value * devices
      const further = deliveries.value - frames.value
      const perSecond =
        (frames.value + ownFrames) * constant('frame_cpu_us') + further * constant('update_cpu_us')
      return perSecond * MICRO
    }),
    connects: figure('connects and snapshots', 'cores', () => {
      const further = Math.max(0, contacts - constant('idle_contacts'))
      const perConnect = constant('connect_cpu_us') + further * constant('read_cpu_us')
      return connects.value * perConnect * MICRO
    }),
    commits: figure('loads and commits', 'cores', () => {
      return commits.value * (constant('load_cpu_us') + constant('commit_cpu_us')) * MICRO
    }),
    messages: figure('messages', 'cores', () => messages.value * constant('message_cpu_us') * MICRO),
    interest: figure('interest', 'cores', () => registrations.value * constant('interest_cpu_us') * MICRO),
    queries: figure('queries', 'cores', () => workload.queries * constant('query_cpu_us') * MICRO),
  }
  const coresUsed = figure('cores at work', '', () => sum(Object.values(cpu)))

  const memory = {
    connections: figure('connections', 'bytes', () => {
      const further = contacts - constant('idle_contacts')
      const each = constant('connection_bytes') + further * constant('edge_bytes')
      // Constants measured with very few users may give less than zero.
      return connections.value * Math.max(0, each)
    }),
    kernel: figure('the kernel, for connections', 'bytes', () => {
      return connections.value * constant('kernel_connection_bytes')
    }),
    watched: figure('targets', 'bytes', () => pairs.value * constant('watched_bytes')),
    processes: figure('empty processes', 'bytes', () => processes.value * constant('process_bytes')),
  }
  const memoryBytes = figure('memory', 'bytes', () => sum(Object.values(memory)))

  let limit: Limit = 'CPU'
  const machines = figure('machines', '', () => {
    const needs: Record<Limit, number> = {
      CPU: coresUsed.value / (cores * utilisation),
      memory: memoryBytes.value / (memoryGb * GB * utilisation),
      connections: connections.value / (processConnections * cores),
      network: (Math.max(bytesIn.value, bytesOut.value) * 8) / (networkGbps * 1e9 * utilisation),
    }
    const most = Math.max(...Object.values(needs))
    limit = (Object.keys(needs) as Limit[]).find((name) => needs[name] === most)!
    return Math.max(1, Math.ceil(most)) + reserve
  })
  return {
    processes,
    processConnections: perProcess,
    interested,
    pairs,
    messages,
    commits,
    registrations,
    cpu,
    cores: coresUsed,
    memory,
    memoryBytes,
    machines,
    limit,
  }
}

export const sum = (figures: readonly Figure[]): number =>
  figures.reduce((total, { value }) => total + value, 0)
