// The figures of the run, in the order in which they are read.
import type { Figure } from '../figures/result.ts'
import { type Latency, percentileMs } from './latency.ts'
import type { PartUsage } from './parts.ts'

export type PartName = 'gateways' | 'presence' | 'redis' | 'load' | 'kernel'
export type Usage = Readonly<Record<PartName, PartUsage>>

interface AfterFault {
  /** Until as many were connected as before. */
  backMs: number
  /** Until changes arrived at all watchers again, and nothing else did; looked at from a minute after all were back. */
  wholeMs: number
  /** Deliveries of what the watcher knew, from the fault until then. */
  repeated: number
  /** Deliveries that said offline. */
  offline: number
  /** Of changes afterwards. */
  latency: Latency
}

export interface Measured {
  gateways: number
  connected: number
  cameS: number
  connectCpuSeconds: number
  /** The memory of the gateways before a user came. */
  emptyBytes: number
  /** At the begin and at the end of the steady phase. */
  usedBefore: Usage
  used: Usage
  steadyMs: number
  changes: number
  deliveries: number
  bytesIn: number
  latency: Latency
  errors: number
  closed: number
  kill: AfterFault
  redisRestart: AfterFault
}

const round = (value: number): number => Number(value.toPrecision(3))

export function figuresOf(measured: Measured): Figure[] {
  const { connected, used, usedBefore, steadyMs, latency, kill, redisRestart } = measured
  const count = (name: string, label: string, value: number): Figure => ({ name, label, value, unit: '' })
  const seconds = (name: string, label: string, ms: number): Figure => ({
    name,
    label,
    value: Math.round(ms / 1000),
    unit: 's',
  })
  const memory = (name: string, label: string, bytes: number): Figure => ({
    name,
    label,
    value: Math.round(bytes / 1e6),
    unit: 'MB',
  })
  const cpu = (part: PartName, label: string): Figure => ({
    name: `${part}_cpu`,
    label,
    value: Math.round(((used[part].cpuSeconds - usedBefore[part].cpuSeconds) / (steadyMs / 1000)) * 100),
    unit: '% of a core',
  })
  const latencyAt = (name: string, label: string, share: number, of = latency): Figure => ({
    name,
    label,
    value: round(percentileMs(of, share) ?? 0),
    unit: 'ms',
  })
  return [
    count('connected', 'users connected', connected),
    count('gateways', 'gateways', measured.gateways),
    seconds('connect_s', 'time until all were connected', measured.cameS * 1000),
    {
      name: 'connect_cpu_ms',
      label: 'CPU of the gateways per connection',
      value: round((measured.connectCpuSeconds * 1000) / connected),
      unit: 'ms',
    },
    memory('gateway_mb', 'memory of the gateways', used.gateways.bytes),
    memory('empty_mb', 'memory of the gateways before a user came', measured.emptyBytes),
    {
      name: 'user_bytes',
      label: 'memory of the gateways per user',
      value: Math.round(used.gateways.bytes / connected),
      unit: 'bytes',
    },
    memory('redis_mb', 'memory of Redis', used.redis.bytes),
    memory('presence_mb', 'memory of the presence process', used.presence.bytes),
    memory('load_mb', 'memory of the load', used.load.bytes),
    memory('kernel_mb', 'memory of the kernel for it', used.kernel.bytes),
    count('changes', 'changes', measured.changes),
    count('deliveries', 'deliveries', measured.deliveries),
    {
      name: 'bytes_per_user_hour',
      label: 'bytes from server to user per hour',
      value: Math.round((measured.bytesIn / connected / steadyMs) * 3_600_000),
      unit: 'bytes',
    },
    latencyAt('p50_ms', 'propagation p50', 0.5),
    latencyAt('p99_ms', 'propagation p99', 0.99),
    cpu('gateways', 'CPU of the gateways'),
    cpu('redis', 'CPU of Redis'),
    cpu('presence', 'CPU of the presence process'),
    cpu('load', 'CPU of the load'),
    count('errors', 'errors', measured.errors),
    count('closed', 'connections that ended before anything broke', measured.closed),
    seconds('kill_back_s', 'all back after a gateway was killed', kill.backMs),
    count('kill_offline', 'false offline after a gateway was killed', kill.offline),
    seconds('kill_whole_s', 'only changes seen to arrive, and all of them, after it', kill.wholeMs),
    count('kill_repeated', 'deliveries of what watchers knew, until then', kill.repeated),
    latencyAt('kill_p99_ms', 'propagation p99 of these', 0.99, kill.latency),
    seconds('redis_back_s', 'all back after Redis restarted empty', redisRestart.backMs),
    count('redis_offline', 'false offline after Redis restarted empty', redisRestart.offline),
    seconds('redis_whole_s', 'only changes seen to arrive, and all of them, after it', redisRestart.wholeMs),
    count('redis_repeated', 'deliveries of what watchers knew, until then', redisRestart.repeated),
    latencyAt('redis_p99_ms', 'propagation p99 of these', 0.99, redisRestart.latency),
  ]
}
