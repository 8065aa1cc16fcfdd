// For whoever runs the server: is it alive, is it ready, what does it count.
import type { Archive } from '../../archive/port.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { Stats } from '../stats.ts'
import type { Routes } from './guard.ts'
import { reply, replyJson } from './reply.ts'

/** Asking for somebody, whoever, goes all the way to the store. */
const PROBE_ID = 'readyz'

export interface OpsRoutesParts {
  stats: Stats
  store: PresenceStore
  archive: Archive
  /** Whether the gateway, if there is one, is where it should be. */
  isHealthy(): boolean
  isDraining(): boolean
  version: string
}

export function opsRoutes({ stats, store, archive, isHealthy, isDraining, version }: OpsRoutesParts): Routes {
  const check = async (probe: () => Promise<unknown>): Promise<'ok' | 'failing'> =>
    probe().then(
      () => 'ok',
      () => 'failing',
    )

  return {
    '/healthz': { GET: { for: 'anyone', run: () => reply({ status: 'ok', version }) } },
    '/readyz': {
      GET: {
        for: 'anyone',
        async run() {
          const [hot, cold] = await Promise.all([
            check(() => store.load([PROBE_ID])),
            check(() => archive.ping()),
          ])
          const gateway = isHealthy() ? 'ok' : 'healing'
          const accepting = isDraining() ? 'draining' : 'ok'
          // Without one of the two, people are still served; taking this process out would end that.
          const isReady = accepting === 'ok' && (hot === 'ok' || cold === 'ok')
          const isWhole = hot === 'ok' && cold === 'ok' && gateway === 'ok'
          const status = !isReady ? 'not_ready' : isWhole ? 'ready' : 'degraded'
          return reply(
            { status, checks: { store: hot, archive: cold, gateway, accepting } },
            isReady ? 200 : 503,
          )
        },
      },
    },
    '/metrics': {
      GET: {
        for: 'anyone',
        run: async () => replyJson(await stats.prometheus(), 200, { 'content-type': stats.prometheusType }),
      },
    },
    '/api/v1/stats': { GET: { for: 'server', run: async () => reply(await stats.read()) } },
  }
}
