// The HTTP side of a process, for every combination of roles: queries and settings always, connections where
// there is a gateway, and the routes for operators.
import type { Archive } from '../archive/port.ts'
import type { ForeignRouting } from '../foreign/routing.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { expositionOf, type Family } from '../ops/exposition.ts'
import type { Feed } from '../ops/feed.ts'
import { type CollectMetrics, createMetrics, type ProcessGauges } from '../ops/metrics.ts'
import type { LogLag } from '../ops/process-directory.ts'
import { createStats } from '../ops/stats.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import type { Logger } from '../platform/logger.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import { VERSION } from '../platform/version.ts'
import type { Actions } from '../presence/people/actions.ts'
import type { Contacts } from '../presence/people/contacts.ts'
import type { Disconnects } from '../presence/people/disconnects.ts'
import type { Eraser } from '../presence/people/eraser.ts'
import type { History } from '../presence/people/history.ts'
import type { PersonExport } from '../presence/people/person-export.ts'
import type { Archivist } from '../presence/pipeline/archivist.ts'
import type { Reader } from '../presence/reading/reader.ts'
import type { ViewerReader } from '../presence/reading/viewer-reader.ts'
import type { PresenceStore } from '../store/port.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { Access } from './access/access.ts'
import { createOriginRules } from './access/origins.ts'
import { createGuard } from './guard.ts'
import { createPages } from './pages/page.ts'
import type { Routes } from './route.ts'
import { contactRoutes } from './routes/contacts.ts'
import { disconnectRoutes } from './routes/disconnect.ts'
import { docsRoutes } from './routes/docs.ts'
import { explainRoutes } from './routes/explain.ts'
import { feedRoutes } from './routes/feed.ts'
import { foreignRoutes } from './routes/foreign.ts'
import { historyRoutes } from './routes/history.ts'
import { opsRoutes } from './routes/ops.ts'
import { personRoutes } from './routes/person.ts'
import { presenceRoutes } from './routes/presence.ts'
import { publicRoutes } from './routes/public.ts'
import { selfRoutes } from './routes/self.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { streamRoutes } from './routes/stream.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { serveHttp } from './server.ts'

export interface HttpApp {
  url: string
  /** From now on /readyz answers 503 and new connections are refused. */
  drain(): void
  stop(): Promise<void>
}

/** The other processes of one machine that share the port, so that a scrape reaches only one of them. */
export interface Siblings {
  /** What this process is asked for by the others. */
  answerWith(collect: CollectMetrics): void
  /** The figures of all of them, this one included. */
  collectAll(): Promise<Family[]>
  close(): void
}

export interface HttpAppParts {
  config: Config
  store: PresenceStore
  archive: Archive
  reader: Reader
  viewerReader: ViewerReader
  contacts: Contacts
  history: History
  exportPerson: PersonExport
  eraser: Eraser
  webhooks: Webhooks
  feed: Feed
  archivist: Archivist
  actions: Actions
  access: Access
  disconnects: Disconnects
  foreign: ForeignRouting
  /** Null in a process without connections. */
  gateway: Gateway | null
  tally: Tally
  clock: Clock
  logger: Logger
  processGauges: () => ProcessGauges
  /** How far the consumers of the log in this process are behind. */
  logLag: () => LogLag
  /** Null where this process has the port to itself. */
  siblings: Siblings | null
}

export function startHttpApp(parts: HttpAppParts): HttpApp {
  const { config, store, archive, reader, actions, gateway, tally, clock, logger } = parts
  const { viewerReader, contacts, exportPerson, eraser, feed, siblings } = parts
  const { authenticator, throttle } = parts.access
  const { host, dev, policy, rules } = config
  let isDraining = false
  const gauges = () => gateway?.gauges() ?? null
  const stats = createStats({
    tally,
    store,
    clock,
    roles: config.roles,
    gateway: gauges,
    archiveBacklog: parts.archivist.backlog,
    logLag: parts.logLag,
  })
  const isHealthy = () => gateway?.isHealthy() ?? true
  const collect = createMetrics({
    ...parts,
    gateway: gauges,
    isHealthy,
    process: parts.processGauges,
    version: VERSION,
    roles: config.roles,
  })
  siblings?.answerWith(collect)
  const collectAll = siblings?.collectAll ?? collect
  const origins = createOriginRules(config)
  // The routes mark requests in it, and the server, which is built last, asks it.
  const openEnded = new WeakSet<Request>()
  const keepOpen = (request: Request) => void openEnded.add(request)
  const connectionRoutes = ({ httpSessions, streams }: Gateway): Routes => ({
    ...sessionRoutes({ httpSessions, throttle, policy, clock }),
    ...streamRoutes({ streams, throttle, keepOpen }),
  })
  async function describe(all: Routes): Promise<string> {
    // Imported here, because few servers are ever asked for the document.
    const { openapi } = await import('./openapi/openapi.ts')
    return JSON.stringify(await openapi(all, VERSION, clock.nextTurn))
  }
  const apiRoutes: Routes = {
    ...presenceRoutes({ viewerReader }),
    ...publicRoutes({ viewerReader }),
    ...selfRoutes({ actions, reader, policy, rules, clock }),
    ...contactRoutes({ contacts }),
    ...personRoutes({ exportPerson, eraser }),
    ...disconnectRoutes(parts),
    ...foreignRoutes(parts),
    ...historyRoutes({ history: parts.history, clock }),
    ...webhookRoutes({ webhooks: parts.webhooks, allowsPrivate: config.webhookPrivateAddresses }),
    ...explainRoutes({ viewerReader, policy, rules, clock }),
    ...(gateway === null ? {} : connectionRoutes(gateway)),
    ...opsRoutes({
      stats,
      metrics: async () => expositionOf(await collectAll()),
      store,
      archive,
      isStoreVolatile: config.redisUrl === null,
      isArchiveFailing: parts.archivist.isFailing,
      isHealthy,
      isDraining: () => isDraining,
      logLag: parts.logLag,
      areMetricsOpen: config.metricsOpen || dev,
      version: VERSION,
    }),
    ...feedRoutes({ feed, keepOpen }),
  }
  const routes = { ...apiRoutes, ...docsRoutes({ apiRoutes, describe, pages: config.pages }) }
  const server = serveHttp({
    host,
    port: config.port,
    reusePort: config.reusePort,
    origins,
    guard: createGuard({ authenticator, throttle, logger, origins, clock, tally }),
    routes,
    openEnded,
    pages: createPages({ dev, pages: config.pages }),
    authenticator,
    gateway,
    isDraining: () => isDraining,
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    drain() {
      isDraining = true
      // The other processes on this port take new connections. This one would refuse its share of them.
      if (config.reusePort) void server.stop(false)
    },
    async stop() {
      stats.stop()
      await server.stop(true)
    },
  }
}
