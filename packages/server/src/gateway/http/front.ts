// The HTTP side of a process, whatever roles it has: queries and settings everywhere, connections where
// there is a gateway, and the routes for whoever runs it.
import type { Archive } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Tally } from '../../platform/tally.ts'
import { VERSION } from '../../platform/version.ts'
import type { Reader } from '../../presence/reader.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { Actions } from '../actions.ts'
import { createAuthenticator } from '../auth.ts'
import type { Gateway } from '../gateway.ts'
import { createStats, type ProcessGauges } from '../stats.ts'
import { createGuard } from './guard.ts'
import { opsRoutes } from './ops-routes.ts'
import { page } from './page.ts'
import { presenceRoutes } from './presence-routes.ts'
import { selfRoutes } from './self-routes.ts'
import { serveHttp } from './server.ts'

export interface Front {
  url: string
  /** From now on says that it is not ready, and takes no new connections. */
  drain(): void
  stop(): Promise<void>
}

export interface FrontParts {
  config: Config
  store: PresenceStore
  archive: Archive
  reader: Reader
  actions: Actions
  /** Null in a process that holds no connections. */
  gateway: Gateway | null
  tally: Tally
  clock: Clock
  logger: Logger
  processGauges: () => ProcessGauges
}

export function startFront(parts: FrontParts): Front {
  const { config, store, archive, reader, actions, gateway, tally, clock, logger } = parts
  const { host, dev, policy } = config
  let isDraining = false
  const gauges = () => gateway?.gauges() ?? null
  const stats = createStats({ tally, store, clock, gateway: gauges, process: parts.processGauges })
  const authenticator = createAuthenticator(config, clock)
  const server = serveHttp({
    host,
    port: config.port,
    reusePort: config.reusePort,
    dev,
    guard: createGuard({ authenticator, logger, dev }),
    routes: {
      ...presenceRoutes(reader),
      ...selfRoutes({ actions, policy, clock }),
      ...gateway?.routes,
      ...opsRoutes({
        stats,
        store,
        archive,
        isHealthy: () => gateway?.isHealthy() ?? true,
        isDraining: () => isDraining,
        version: VERSION,
      }),
    },
    page,
    authenticator,
    gateway,
    isDraining: () => isDraining,
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    drain() {
      isDraining = true
      // Whoever shares the port takes new connections from now on; here half of them would be refused.
      if (config.reusePort) void server.stop(false)
    },
    async stop() {
      stats.stop()
      await server.stop(true)
    },
  }
}
