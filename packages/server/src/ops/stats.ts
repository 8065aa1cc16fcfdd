// The figures of the whole deployment, for the dashboard and /api/v1/stats. Hot paths increment plain numbers; all
// work here happens when the figures are read, except one sample every few seconds. The other processes are in the
// process directory.
import type { GatewayGauges } from '../gateway/gateway.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import { randomName } from '../platform/ids.ts'
import { WAIT_WINDOW_MS } from '../platform/recent-waits.ts'
import type { Tally } from '../platform/tally.ts'
import type { PresenceStore } from '../store/port.ts'
import { type LogLag, type ProcessSummary, startProcessDirectory } from './process-directory.ts'
import { type Sample, startStatsHistory } from './stats-history.ts'

const SAMPLE_EVERY_MS = 5_000
export interface Stats {
  read(): Promise<object>
  /** The last hour, oldest first. */
  history(): { propagation_window_ms: number; samples: readonly Sample[] }
  stop(): void
}

const COUNTERS = {
  connections_opened: (tally: Tally) => tally.connectionsOpened,
  connections_closed: (tally: Tally) => tally.connectionsClosed,
  frames_in: (tally: Tally) => tally.framesIn,
  heartbeats: (tally: Tally) => tally.heartbeats,
  frames_out: (tally: Tally) => tally.framesOut,
  deliveries: (tally: Tally) => tally.deliveries,
  changes: (tally: Tally) => tally.changes,
  errors_sent: (tally: Tally) => tally.errorsSent,
  sessions_lost: (tally: Tally) => tally.sessionsLost,
  webhooks_delivered: (tally: Tally) => tally.webhooksDelivered,
  webhooks_failed: (tally: Tally) => tally.webhooksFailed,
}
type Counts = Record<keyof typeof COUNTERS, number>

const NO_GATEWAY: GatewayGauges = {
  gatewayId: '',
  sessions: 0,
  streams: 0,
  watches: 0,
  watchedUsers: 0,
  slowReaders: 0,
  wavesWalking: 0,
  wavesWaiting: 0,
}

export function createStats(parts: {
  tally: Tally
  /** Null in a process without connections. */
  gateway: () => GatewayGauges | null
  archiveBacklog: () => number
  logLag: () => LogLag
  store: PresenceStore
  clock: Clock
  roles: readonly string[]
}): Stats {
  const { tally, gateway, logLag, store, clock, roles } = parts
  const processName = randomName('p-')
  const startedAt = clock.now()

  /** Null while the store is down, so that the other figures are still returned. */
  const countUsers = () => store.countByStatus().catch(() => null)
  const count = (): Counts =>
    Object.fromEntries(Object.entries(COUNTERS).map(([name, of]) => [name, of(tally)])) as Counts
  let last = { at: clock.now(), counts: count() }
  let rates = Object.fromEntries(Object.keys(COUNTERS).map((name) => [name, 0])) as Counts
  const timer: Timer = clock.every(SAMPLE_EVERY_MS, () => {
    const next = { at: clock.now(), counts: count() }
    const seconds = Math.max(0.001, (next.at - last.at) / 1000)
    const perSecond = (name: keyof Counts) => (next.counts[name] - last.counts[name]) / seconds
    rates = Object.fromEntries(
      Object.keys(COUNTERS).map((name) => [name, perSecond(name as keyof Counts)]),
    ) as Counts
    last = next
  })

  function summary(): ProcessSummary {
    const here = gateway() ?? NO_GATEWAY
    const { p50, p90, p99 } = tally.recentWaits.percentiles(clock.now())
    return {
      name: gateway() === null ? processName : here.gatewayId,
      roles,
      connections: here.sessions,
      streams: here.streams,
      watches: here.watches,
      watched_users: here.watchedUsers,
      slow_readers: here.slowReaders,
      changes_per_second: rates.changes,
      deliveries_per_second: rates.deliveries,
      frames_in_per_second: rates.frames_in,
      propagation_p50_ms: p50,
      propagation_p90_ms: p90,
      propagation_p99_ms: p99,
      archive_backlog: parts.archiveBacklog(),
      log_lag: logLag(),
      resident_bytes: process.memoryUsage().rss,
      uptime_ms: clock.now() - startedAt,
    }
  }
  const directory = startProcessDirectory({ store, clock, summary })
  const history = startStatsHistory({
    clock,
    async sample() {
      const processes = await directory.read()
      return {
        at: clock.now(),
        users: await countUsers(),
        connections: sum(processes, 'connections'),
        watches: sum(processes, 'watches'),
        changes_per_second: sum(processes, 'changes_per_second'),
        deliveries_per_second: sum(processes, 'deliveries_per_second'),
        propagation_p50_ms: slowest(processes, 'propagation_p50_ms'),
        propagation_p90_ms: slowest(processes, 'propagation_p90_ms'),
        propagation_p99_ms: slowest(processes, 'propagation_p99_ms'),
      }
    },
  })

  return {
    async read() {
      const processes = await directory.read()
      return {
        users: await countUsers(),
        connections: sum(processes, 'connections'),
        streams: sum(processes, 'streams'),
        watches: sum(processes, 'watches'),
        watched_users: sum(processes, 'watched_users'),
        slow_readers: sum(processes, 'slow_readers'),
        gateways: processes
          .filter((one) => one.roles.includes('gateway'))
          .map(({ name, connections, watches }) => ({ gateway_id: name, connections, watches })),
        processes,
        log_lag: mergedLag(processes),
        rates_per_second: rates,
        totals: count(),
        propagation_ms: { ...tally.recentWaits.percentiles(clock.now()), window_ms: WAIT_WINDOW_MS },
        uptime_ms: clock.now() - startedAt,
      }
    },
    history: () => ({ propagation_window_ms: WAIT_WINDOW_MS, samples: history.samples() }),
    stop() {
      timer.stop()
      directory.stop()
      history.stop()
    },
  }
}

/** Any process with the role knows the lag of the whole deployment, but one that has just started. */
function mergedLag(processes: readonly ProcessSummary[]): LogLag {
  const merged: Record<string, number | null> = {}
  // A process of an older version may not have it.
  for (const { log_lag } of processes)
    for (const [consumer, lag] of Object.entries(log_lag ?? {}))
      merged[consumer] = lag ?? merged[consumer] ?? null
  return merged
}

type Summed = 'connections' | 'streams' | 'watches' | 'watched_users' | 'slow_readers'
type Rated = 'changes_per_second' | 'deliveries_per_second'

function sum(processes: readonly ProcessSummary[], what: Summed | Rated): number {
  return processes.reduce((total, one) => total + one[what], 0)
}

type Percentile = 'propagation_p50_ms' | 'propagation_p90_ms' | 'propagation_p99_ms'

/** Percentiles cannot be added. A process of an older version may not have all of them. */
function slowest(processes: readonly ProcessSummary[], which: Percentile): number | null {
  const known = processes.flatMap((one) => one[which] ?? [])
  return known.length === 0 ? null : Math.max(...known)
}
