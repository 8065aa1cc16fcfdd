// The only file that chooses adapters. From a configuration it builds the pipeline and starts it:
// store and bus, archive, tracker, sweeper, gateway, in the order the data flows.

import { parseDatabaseUrl } from './archive/database-url.ts'
import type { Archive } from './archive/port.ts'
import { createSqliteArchive } from './archive/sqlite.ts'
import { createMemoryBus } from './bus/memory.ts'
import { startGateway } from './gateway/gateway.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { randomName } from './platform/ids.ts'
import type { Logger } from './platform/logger.ts'
import { createTally } from './platform/tally.ts'
import { createAnnouncer } from './presence/announcer.ts'
import { createArchivist } from './presence/archivist.ts'
import { versionFloor } from './presence/hydrate.ts'
import { startSweeper } from './presence/sweeper.ts'
import { createTracker } from './presence/tracker.ts'
import { createMemoryStore } from './store/memory.ts'

/** Often enough that a crash is dated to within five seconds. */
const ALIVE_EVERY_MS = 2_000

export interface Running {
  url: string
  stop(reason: string): Promise<void>
}

export async function openArchive(config: Config): Promise<Archive> {
  const database = parseDatabaseUrl(config.databaseUrl)
  switch (database.kind) {
    case 'sqlite':
      return createSqliteArchive({ path: database.path })
    case 'postgres':
      throw new Error('postgres is not in this version yet; use a sqlite:// database_url')
    case 'invalid':
      throw new Error(database.message)
  }
}

export async function start(config: Config, options: { logger: Logger; clock: Clock }): Promise<Running> {
  const { logger, clock } = options
  const archive = await openArchive(config)
  await archive.migrate()
  const bornAt = clock.now()
  await recover(archive, bornAt, logger)
  await archive.markAlive(bornAt)

  const store = createMemoryStore({ bornAt })
  const bus = createMemoryBus({ onError: (error) => logger.error({ err: error }, 'a bus subscriber failed') })
  const tally = createTally()
  const archivist = createArchivist(archive, clock, logger)
  const announcer = createAnnouncer({
    bus,
    archivist,
    policy: config.policy,
    onChange: () => void tally.changes++,
  })
  const tracker = await createTracker({ store, archive, announcer, policy: config.policy, clock, logger })
  const sweeper = startSweeper({ store, tracker, clock, logger })
  const aliveTimer = clock.every(ALIVE_EVERY_MS, () => {
    archive
      .markAlive(clock.now())
      .catch((error) => logger.error({ err: error }, 'could not mark the server alive'))
  })

  const gateway = await startGateway({
    config,
    gatewayId: randomName('g-'),
    store,
    bus,
    archive,
    tracker,
    tally,
    clock,
    logger,
    processGauges: () => ({
      trackerDepth: tracker.depth(),
      sweepLagMs: sweeper.lagMs(),
      archiveBacklog: archivist.backlog(),
    }),
  })
  logger.info({ url: gateway.url, dev: config.dev, policy: config.policyName }, 'started')

  return {
    url: gateway.url,
    async stop(reason) {
      logger.info({ reason }, 'stopping')
      await gateway.drain()
      await sweeper.stop()
      await tracker.flush()
      await archivist.flush()
      await gateway.stop()
      aliveTimer.stop()
      await archive.markAlive(clock.now())
      await store.close()
      await bus.close()
      await archive.close()
      logger.info('stopped')
    },
  }
}

/** Whoever was here when the last process ended was last seen when it was last alive. */
async function recover(archive: Archive, now: number, logger: Logger): Promise<void> {
  const aliveAt = await archive.aliveAt()
  if (aliveAt === null) return
  const users = await archive.recover({ aliveAt, versionAtLeast: versionFloor(now), now })
  if (users > 0) logger.info({ users, aliveAt }, 'people who were here when the server ended are offline now')
}
