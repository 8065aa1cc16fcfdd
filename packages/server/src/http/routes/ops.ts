// Routes for operators: liveness, readiness, metrics and statistics.
import { EXPOSITION_TYPE } from '../../ops/exposition.ts'
import type { LogLag } from '../../ops/process-directory.ts'
import { createReadiness, type ReadinessParts } from '../../ops/readiness.ts'
import type { Stats } from '../../ops/stats.ts'
import {
  health,
  history as historyAnswer,
  notReady,
  ready,
  stats as statsAnswer,
} from '../openapi/answers.ts'
import { reply, replyJson } from '../reply.ts'
import { type Routes, route, text } from '../route.ts'

export interface OpsRoutesParts extends ReadinessParts {
  stats: Stats
  /** What a scrape gets, as text. */
  metrics(): Promise<string>
  /** How far the consumers of the log are behind; empty in a process that does not consume it. */
  logLag(): LogLag
  /** Counts can reveal users, so by default they need a server key. */
  areMetricsOpen: boolean
  version: string
}

export function opsRoutes(parts: OpsRoutesParts): Routes {
  const { stats, metrics, logLag, areMetricsOpen, version } = parts
  const readiness = createReadiness(parts)

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
          const { status, checks } = await readiness()
          return reply({ status, checks, log_lag: logLag() }, status === 'not_ready' ? 503 : 200)
        },
      }),
    },
    '/metrics': {
      GET: route({
        for: areMetricsOpen ? 'anyone' : 'server',
        summary: 'Metrics for Prometheus',
        answers: { 200: text('text/plain', 'The text format of Prometheus') },
        run: async () => replyJson(await metrics(), 200, { 'content-type': EXPOSITION_TYPE }),
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
