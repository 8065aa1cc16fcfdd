// Routes for operators: liveness, readiness, metrics and statistics.
import type { Archive } from '../../archive/port.ts'
import type { LogLag } from '../../ops/process-directory.ts'
import type { Stats } from '../../ops/stats.ts'
import type { PresenceStore } from '../../store/port.ts'
import {
  health,
  history as historyAnswer,
  notReady,
  ready,
  stats as statsAnswer,
} from '../openapi/answers.ts'
import { reply, replyJson } from '../reply.ts'
import { type Routes, route, text } from '../route.ts'

/** Loading any user reaches the store. */
const PROBE_ID = 'readyz'

export interface OpsRoutesParts {
  stats: Stats
  store: PresenceStore
  archive: Archive
  /** The hot store dies with the process. */
  isStoreVolatile: boolean
  /** Whether writes to the archive fail, or rows wait to be written again. */
  isArchiveFailing(): boolean
  /** Whether the gateway, if there is one, has its lease and its subscription. */
  isHealthy(): boolean
  isDraining(): boolean
  /** Of the consumers of the log; empty in a process that does not consume it. */
  logLag(): LogLag
  /** Counts can reveal users, so by default they need a server key. */
  areMetricsOpen: boolean
  version: string
}

export function opsRoutes(parts: OpsRoutesParts): Routes {
  const {
    stats,
    store,
    archive,
    isStoreVolatile,
    isArchiveFailing,
    isHealthy,
    isDraining,
    logLag,
    areMetricsOpen,
    version,
  } = parts
  const check = async (probe: () => Promise<unknown>): Promise<'ok' | 'failing'> =>
    probe().then(
      () => 'ok',
      () => 'failing',
    )

  return {
    '/healthz': {
      GET: route({
        for: 'anyone',
        summary: 'Whether the process runs',
        answers: { 200: health },
        run: () => reply({ status: 'ok', version }),
      }),
    },
    '/readyz': {
      GET: route({
        for: 'anyone',
        summary: 'Whether it can take connections',
        answers: { 200: ready, 503: notReady },
        async run() {
          const [hot, cold] = await Promise.all([
            check(() => store.load([PROBE_ID])),
            check(async () => {
              await archive.ping()
              // A full disk still answers.
              if (isArchiveFailing()) throw new Error('rows cannot be written')
            }),
          ])
          const gateway = isHealthy() ? 'ok' : 'healing'
          const accepting = isDraining() ? 'draining' : 'ok'
          // With one of two shared stores users are still served; removing this process would end that. A process
          // whose memory is all there is must be able to write.
          const isServing = isStoreVolatile ? cold === 'ok' : hot === 'ok' || cold === 'ok'
          const isReady = accepting === 'ok' && isServing
          const isWhole = hot === 'ok' && cold === 'ok' && gateway === 'ok'
          const status = !isReady ? 'not_ready' : isWhole ? 'ready' : 'degraded'
          return reply(
            { status, checks: { store: hot, archive: cold, gateway, accepting }, log_lag: logLag() },
            isReady ? 200 : 503,
          )
        },
      }),
    },
    '/metrics': {
      GET: route({
        for: areMetricsOpen ? 'anyone' : 'server',
        summary: 'Metrics for Prometheus',
        answers: { 200: text('text/plain', 'The text format of Prometheus') },
        run: async () => replyJson(await stats.prometheus(), 200, { 'content-type': stats.prometheusType }),
      }),
    },
    '/api/v1/stats': {
      GET: route({
        for: 'server',
        summary: 'Statistics',
        description: 'Users by status, connections, watches, rates, and how long changes take to arrive.',
        answers: { 200: statsAnswer },
        run: async () => reply(await stats.read()),
      }),
    },
    '/api/v1/stats/history': {
      GET: route({
        for: 'server',
        summary: 'Statistics of the last hour',
        description: 'A sample every ten seconds, oldest first, since the process that answers was started.',
        answers: { 200: historyAnswer },
        run: () => reply(stats.history()),
      }),
    },
  }
}
