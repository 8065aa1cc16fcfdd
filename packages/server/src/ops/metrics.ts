// What Prometheus scrapes of this process. Hot paths increment numbers of the tally; all work here happens at a
// scrape. Times are in seconds and no label is or has an id of a user. docs/operations.md lists every family.
import type { GatewayGauges } from '../gateway/gateway.ts'
import type { Clock } from '../platform/clock.ts'
import type { Histogram } from '../platform/measuring/histogram.ts'
import type { LabelledCount } from '../platform/measuring/labelled-count.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import { within } from '../platform/within.ts'
import type { Duty, PresenceStore } from '../store/port.ts'
import type { Family, Labels, Sample } from './exposition.ts'
import type { LogLag } from './process-directory.ts'

const MS = 1_000
const MICROSECONDS = 1_000_000
/** How long the store may count users. Below the time that a worker has to answer a scrape of all. */
export const COUNT_MS_MAX = 500

export interface ProcessGauges {
  trackerDepth: number
  sweepLagMs: number
  archiveBacklog: number
  isArchiveFailing: boolean
  /** How far the clock of this machine is behind the clock of the store. */
  clockOffsetMs: number
  /** Since when the oldest late duty of each kind is open; null where none is late. */
  dutiesSince: Readonly<Record<Duty, number | null>>
  /** Since the start. */
  logLinesSuppressed: number
  deadLetters: number
}

export interface MetricsParts {
  tally: Tally
  /** Null in a process without connections. */
  gateway: () => GatewayGauges | null
  isHealthy: () => boolean
  process: () => ProcessGauges
  logLag: () => LogLag
  store: Pick<PresenceStore, 'countByStatus'>
  clock: Pick<Clock, 'now' | 'after'>
  version: string
  roles: readonly string[]
}

/** Reads all figures of this process. */
export type CollectMetrics = () => Promise<Family[]>

export function createMetrics(parts: MetricsParts): CollectMetrics {
  const { tally, store, clock, version, roles } = parts
  const startedAt = clock.now()

  return async () => {
    const users = await countUsers(store, clock)
    const now = clock.now()
    return [
      gauge('greendot_build_info', '1, with the version and the roles of the process', 1, {
        version,
        roles: roles.join(' '),
      }),
      gauge('greendot_start_time_seconds', 'When the process started, in Unix seconds', startedAt / MS),
      ...counters(tally),
      ...histograms(tally),
      ...gatewayFamilies(parts),
      ...processFamilies(parts.process(), now),
      ...machineFamilies(tally),
      gauges(
        'greendot_users',
        'Users in the hot store by shown status, in the whole deployment',
        'status',
        users,
      ),
      gauges(
        'greendot_log_lag_records',
        'Records that a consumer of a log has yet to handle, in the whole deployment',
        'consumer',
        parts.logLag(),
      ),
    ]
  }
}

/** Without the store, or while it is slow, the other figures are still returned. */
function countUsers(
  store: MetricsParts['store'],
  clock: MetricsParts['clock'],
): Promise<Readonly<Record<string, number>>> {
  const none = (): Readonly<Record<string, number>> => ({})
  return within(clock, COUNT_MS_MAX, store.countByStatus().catch(none), none)
}

function counters(tally: Tally): Family[] {
  const plain: [name: string, help: string, value: number][] = [
    ['connections_opened', 'Sessions opened, by WebSocket and by HTTP heartbeat', tally.connectionsOpened],
    ['connections_closed', 'Sessions ended, for any reason', tally.connectionsClosed],
    ['sessions_lost', 'Sessions ended by silence', tally.sessionsLost],
    ['webhooks_delivered', 'Requests to webhooks that succeeded', tally.webhooksDelivered],
    ['webhooks_failed', 'Requests to webhooks that failed, and are made again', tally.webhooksFailed],
    ['frames_in', 'Frames from clients, including heartbeats', tally.framesIn],
    ['heartbeats', 'Heartbeat frames', tally.heartbeats],
    ['frames_out', 'Frames sent with changes or own views', tally.framesOut],
    ['deliveries', 'Changes in sent frames: one change to one watcher is one delivery', tally.deliveries],
    ['changes', 'Visible changes of users', tally.changes],
    ['errors_sent', 'Error frames sent', tally.errorsSent],
    ['slow_reader_blocks', 'Times that a connection took no more data', tally.slowReaderBlocks],
    [
      'slow_readers_ended',
      'Streams over gRPC that ended because too much waited to be read',
      tally.slowReadersEnded,
    ],
    ['foreign_batches', 'Batches of foreign gateways that came to this process', tally.foreignBatches],
    ['foreign_entries', 'Entries of foreign gateways that came to this process', tally.foreignEntries],
    [
      'foreign_holders_passed_over',
      'Times that a holder of foreign sessions did not answer and another one was asked',
      tally.foreignHoldersPassedOver,
    ],
    ['spans_exported', 'Spans of traces that the collector took', tally.spansExported],
    ['spans_dropped', 'Spans of traces that the collector did not take', tally.spansDropped],
  ]
  return [
    ...plain.map(([name, help, value]) => counter(`greendot_${name}_total`, help, [sample({}, value)])),
    labelledCounter('tokens_refused', 'Tokens refused', 'reason', tally.tokensRefused),
    labelledCounter(
      'rate_limited',
      'Requests, frames and connections refused by a limit',
      'limit',
      tally.rateLimited,
    ),
    labelledCounter(
      'resyncs',
      'Times that sessions and watches were announced again',
      'scope',
      tally.resyncs,
    ),
    labelledCounter(
      'foreign_rejections',
      'Entries of foreign gateways that were refused',
      'code',
      tally.foreignRejections,
    ),
    labelledCounter('http_responses', 'Answers over HTTP', 'status', tally.responses),
  ]
}

function histograms(tally: Tally): Family[] {
  return [
    histogram('propagation', 'From a change of a user to a frame that has it', tally.propagation),
    histogram('batch', 'From the start of a batch of users to its commit', tally.batches),
    histogram('http_request', 'From a request over HTTP to its answer', tally.requests),
    histogram('loop_delay', 'How late the event loop was, ten looks a second', tally.loopDelays),
  ]
}

function gatewayFamilies({ gateway, isHealthy }: MetricsParts): Family[] {
  const here = gateway()
  const plain: [name: string, help: string, value: number][] = [
    ['sessions', 'Open sessions', here?.sessions ?? 0],
    ['streams', 'Open event streams', here?.streams ?? 0],
    ['watches', 'Pairs of a connection and a user it watches', here?.watches ?? 0],
    ['watched_users', 'Users with at least one watcher', here?.watchedUsers ?? 0],
    ['slow_readers', 'Connections whose socket takes no more data at the moment', here?.slowReaders ?? 0],
    ['waves_walking', 'Changes that are being delivered to a large audience', here?.wavesWalking ?? 0],
    ['waves_waiting', 'Changes for a large audience that wait in the queue', here?.wavesWaiting ?? 0],
    ['gateway_healing', '1 while the gateway announces itself again', isHealthy() ? 0 : 1],
  ]
  return plain.map(([name, help, value]) => gauge(`greendot_${name}`, help, value))
}

function processFamilies(here: ProcessGauges, now: number): Family[] {
  const ages = Object.entries(here.dutiesSince).map(([duty, since]): [string, number] => [
    duty,
    since === null ? 0 : Math.max(0, now - since) / MS,
  ])
  return [
    gauge('greendot_tracker_depth', 'Users whose events wait to be processed', here.trackerDepth),
    gauge('greendot_sweep_lag_seconds', 'How late the last sweep found a deadline', here.sweepLagMs / MS),
    gauges(
      'greendot_duty_age_seconds',
      'Age of the oldest commit that is late to be announced or written; 0 where none is late',
      'duty',
      Object.fromEntries(ages),
    ),
    counter('greendot_log_lines_suppressed_total', 'Log lines left out because too many were equal', [
      sample({}, here.logLinesSuppressed),
    ]),
    counter('greendot_dead_letters_total', 'Records of presence.updates that could not be read', [
      sample({}, here.deadLetters),
    ]),
    gauge('greendot_archive_backlog', 'Rows that wait to be written to the database', here.archiveBacklog),
    gauge('greendot_archive_failing', '1 while writes to the database fail', here.isArchiveFailing ? 1 : 0),
    gauge(
      'greendot_clock_offset_seconds',
      'How far the clock of this machine is behind the clock of the store',
      here.clockOffsetMs / MS,
    ),
  ]
}

function machineFamilies(tally: Tally): Family[] {
  const { user, system } = process.cpuUsage()
  const longestMs = tally.loopBlockMsMax
  tally.loopBlockMsMax = 0
  const cpu = sample({}, (user + system) / MICROSECONDS)
  return [
    gauge(
      'greendot_loop_block_max_seconds',
      'Longest block of the event loop since the last scrape',
      longestMs / MS,
    ),
    gauge('greendot_resident_bytes', 'Resident memory of the process', process.memoryUsage().rss),
    counter('greendot_cpu_seconds_total', 'CPU time of the process', [cpu]),
  ]
}

const sample = (labels: Labels, value: number, suffix = ''): Sample => ({ suffix, labels, value })

const gauge = (name: string, help: string, value: number, labels: Labels = {}): Family => ({
  name,
  type: 'gauge',
  help,
  samples: [sample(labels, value)],
})

/** One sample for each known value; null is left out. */
function gauges(
  name: string,
  help: string,
  label: string,
  values: Readonly<Record<string, number | null>>,
): Family {
  const samples = Object.entries(values).flatMap(([key, value]) =>
    value === null ? [] : [sample({ [label]: key }, value)],
  )
  return { name, type: 'gauge', help, samples }
}

const counter = (name: string, help: string, samples: readonly Sample[]): Family => ({
  name,
  type: 'counter',
  help,
  samples,
})

function labelledCounter(name: string, help: string, label: string, count: LabelledCount): Family {
  const samples = count.entries().map(([value, times]) => sample({ [label]: value }, times))
  return counter(`greendot_${name}_total`, `${help}, by ${label}`, samples)
}

function histogram(name: string, help: string, { boundsMs, read }: Histogram): Family {
  const { counts, sumMs } = read()
  let total = 0
  const buckets = counts.map((count, bucket) => {
    total += count
    const bound = boundsMs[bucket]
    return sample({ le: bound === undefined ? '+Inf' : String(bound / MS) }, total, '_bucket')
  })
  const samples = [...buckets, sample({}, sumMs / MS, '_sum'), sample({}, total, '_count')]
  return { name: `greendot_${name}_seconds`, type: 'histogram', help, samples }
}
