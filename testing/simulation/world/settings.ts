// What a seed draws before anything happens: the shape of the deployment and its settings. Every seed has others, because
// a bug may need a lease that is shorter than a delay, or one shard, or two gateways that flush at different times.
import type { Random } from '../time/random.ts'

export interface SimulatedSettings {
  deployment: 'embedded' | 'shared'
  /** Nodes of the simulated Redis; one is no cluster. */
  nodes: number
  shards: number
  gateways: number
  /** Processes that sweep and answer queries, beside the gateways; none: every gateway has all roles. */
  presences: number
  fanouts: number
  heartbeatMs: number
  ttlMs: number
  onlineDelayMs: number
  offlineDelayMs: number
  lingerMs: number
  leaseMs: number
  flushMs: number
  drainMs: number
  readCacheMs: number
  historyDays: number
  defaultVisibility: 'everyone' | 'contacts'
  hiddenAs: 'offline' | 'null'
  /** How long a message takes at most when nothing is wrong. */
  networkMs: number
  /** How late a timer may be. */
  timerLateMs: number
  skewMs: number
  drift: number
}

export function drawSettings(random: Random): SimulatedSettings {
  const isShared = random.isTrue(0.85)
  const heartbeatMs = random.pick([500, 1_000, 2_000])
  const isApart = isShared && random.isTrue(0.6)
  return {
    deployment: isShared ? 'shared' : 'embedded',
    nodes: random.pick([1, 1, 2, 3]),
    shards: random.pick([1, 2, 4]),
    gateways: isShared ? random.pick([1, 2, 2, 3]) : 1,
    presences: isApart ? random.pick([1, 2]) : 0,
    fanouts: isApart && random.isTrue(0.3) ? 1 : 0,
    heartbeatMs,
    ttlMs: heartbeatMs * random.pick([2.5, 3, 6]),
    onlineDelayMs: random.pick([0, 0, 0, 700]),
    offlineDelayMs: random.pick([0, 300, 1_000, 3_000]),
    lingerMs: random.isTrue(0.2) ? 20_000 : 0,
    leaseMs: random.pick([1_500, 3_000, 6_000, 10_000]),
    flushMs: random.pick([10, 50, 200]),
    drainMs: random.pick([200, 1_000, 3_000]),
    readCacheMs: random.pick([0, 500, 2_000]),
    historyDays: random.isTrue(0.5) ? 7 : 0,
    defaultVisibility: random.isTrue(0.8) ? 'everyone' : 'contacts',
    hiddenAs: random.isTrue(0.8) ? 'offline' : 'null',
    networkMs: random.pick([1, 5, 20]),
    timerLateMs: random.pick([0, 2, 15]),
    skewMs: random.pick([0, 0, 5_000, 3_600_000]),
    drift: random.pick([0, 0, 0.000_2]),
  }
}
