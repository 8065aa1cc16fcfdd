// For whoever runs the server: is it alive, is it ready, what does it count.
import type { Archive } from '../../archive/port.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { Stats } from '../stats.ts'
import type { Routes } from './guard.ts'
import { reply, replyJson } from './reply.ts'

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
          const checks = {
            store: await check(() => store.load([])),
            archive: await check(() => archive.ping()),
            gateway: isHealthy() ? 'ok' : 'healing',
            accepting: isDraining() ? 'draining' : 'ok',
          }
          const isReady = Object.values(checks).every((state) => state === 'ok')
          return reply({ status: isReady ? 'ready' : 'not_ready', checks }, isReady ? 200 : 503)
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
