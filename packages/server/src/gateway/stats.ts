// What the server counts, for Prometheus and for people. Hot paths bump plain numbers; everything
// here happens only when somebody asks, except one sample every few seconds for rates.
import { Counter, Gauge, Registry } from 'prom-client'
import type { Clock, Timer } from '../platform/clock.ts'
import type { Tally } from '../platform/tally.ts'
import type { PresenceStore } from '../store/port.ts'

const SAMPLE_EVERY_MS = 5_000
const QUANTILES = [0.5, 0.9, 0.99] as const

/** Numbers that are true right now, as opposed to counted since the start. */
export interface GatewayGauges {
  gatewayId: string
  sessions: number
  watches: number
  watchedUsers: number
  slowReaders: number
}

export interface ProcessGauges {
  trackerDepth: number
  sweepLagMs: number
  archiveBacklog: number
  /** How far the clock of this machine is behind that of the store. */
  clockOffsetMs: number
}

export interface Stats {
  read(): Promise<object>
  prometheus(): Promise<string>
  prometheusType: string
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
}
type Counts = Record<keyof typeof COUNTERS, number>

const NO_GATEWAY: GatewayGauges = { gatewayId: '', sessions: 0, watches: 0, watchedUsers: 0, slowReaders: 0 }

export function createStats(parts: {
  tally: Tally
  /** Null in a process that holds no connections. */
  gateway: () => GatewayGauges | null
  process: () => ProcessGauges
  store: PresenceStore
  clock: Clock
}): Stats {
  const { tally, gateway, store, clock } = parts
  const startedAt = clock.now()
  const registry = new Registry()

  /** Null while the store is away: everything else is still worth telling. */
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

  function expose(
    name: string,
    help: string,
    collect: (gauge: Gauge) => void | Promise<void>,
    labelNames: string[] = [],
  ) {
    new Gauge({
      name: `greendot_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        return collect(this)
      },
    })
  }
  for (const [name, of] of Object.entries(COUNTERS)) {
    new Counter({
      name: `greendot_${name}_total`,
      help: `${name.replaceAll('_', ' ')} since the start`,
      registers: [registry],
      // The tally holds running totals already, so they are read out instead of being counted again.
      collect() {
        this.reset()
        this.inc(of(tally))
      },
    })
  }
  const gauges = (): Record<string, number> => {
    const { gatewayId: _, ...numbers } = gateway() ?? NO_GATEWAY
    return { ...numbers, ...parts.process() }
  }
  for (const name of Object.keys(gauges())) {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    expose(snake, `${snake.replaceAll('_', ' ')} now`, (gauge) => gauge.set(gauges()[name]!))
  }
  expose(
    'users',
    'hot users by shown status',
    async (gauge) => {
      for (const [status, users] of Object.entries((await countUsers()) ?? {})) gauge.set({ status }, users)
    },
    ['status'],
  )
  expose(
    'propagation_ms',
    'from a change to its frame, by quantile',
    (gauge) => {
      for (const quantile of QUANTILES)
        gauge.set({ quantile: String(quantile) }, tally.waits.quantile(quantile) ?? 0)
    },
    ['quantile'],
  )
  expose('resident_bytes', 'resident memory of the process', (gauge) => gauge.set(process.memoryUsage().rss))

  return {
    async read() {
      const [p50, p90, p99] = QUANTILES.map((quantile) => tally.waits.quantile(quantile))
      const here = gateway()
      const { sessions, watches, watchedUsers, slowReaders } = here ?? NO_GATEWAY
      return {
        users: await countUsers(),
        connections: sessions,
        watches,
        watched_users: watchedUsers,
        slow_readers: slowReaders,
        gateways: here === null ? [] : [{ gateway_id: here.gatewayId, connections: sessions, watches }],
        rates_per_second: rates,
        totals: count(),
        propagation_ms: { p50, p90, p99, count: tally.waits.count() },
        uptime_ms: clock.now() - startedAt,
      }
    },
    prometheus: () => registry.metrics(),
    prometheusType: registry.contentType,
    stop: () => timer.stop(),
  }
}
