// The pipeline without a network, for measurements inside one process: a real store in memory, archive,
// tracker, reader and evaluator, put together as compose.ts does, with connected users.
import type { Activity } from '@greendot/protocol'
import { createSqliteArchive } from '../../../server/src/archive/sqlite.ts'
import { createMemoryBus } from '../../../server/src/bus/memory.ts'
import { systemClock as clock } from '../../../server/src/platform/clock.ts'
import { createLogger } from '../../../server/src/platform/logger.ts'
import type { SessionFacts } from '../../../server/src/presence/core/event.ts'
import { step } from '../../../server/src/presence/core/machine.ts'
import { POLICIES } from '../../../server/src/presence/core/policy.ts'
import type { PrivacyRules } from '../../../server/src/presence/core/privacy.ts'
import { emptyRecord, type UserRecord } from '../../../server/src/presence/core/record.ts'
import { createAnnouncer } from '../../../server/src/presence/pipeline/announcer.ts'
import { createArchivist } from '../../../server/src/presence/pipeline/archivist.ts'
import { createTracker } from '../../../server/src/presence/pipeline/tracker.ts'
import { createEvaluator } from '../../../server/src/presence/privacy/evaluator.ts'
import { createRelations } from '../../../server/src/presence/privacy/relations.ts'
import { createArchiveLookup } from '../../../server/src/presence/reading/archive-lookup.ts'
import { createQueryCache } from '../../../server/src/presence/reading/query-cache.ts'
import { createReader } from '../../../server/src/presence/reading/reader.ts'
import { createViewerReader } from '../../../server/src/presence/reading/viewer-reader.ts'
import { createMemoryStore } from '../../../server/src/store/memory.ts'

export const policy = POLICIES.instant
const rules: PrivacyRules = { defaultVisibility: 'everyone', hiddenAs: 'offline' }

export const userName = (user: number): string => `user-${user}`

export function sessionOf(user: number, at: number): SessionFacts {
  return {
    sessionId: `g-1-${user.toString(36)}`,
    deviceId: `device-${user}`,
    platform: 'web',
    gatewayId: 'g-1',
    connectedAt: at,
    lastActiveAt: at,
  }
}

const ARRIVED_AT = 1_700_000_000_000

/** The record of a connected user. */
export function arrived(user: number, activity: Activity): UserRecord {
  const event = { type: activity, activity, at: ARRIVED_AT, ...sessionOf(user, ARRIVED_AT) } as const
  return step(emptyRecord(), [event], ARRIVED_AT, policy).record
}

export async function createUsers() {
  const logger = createLogger({ level: 'error' })
  const archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const store = createMemoryStore()
  const archivist = createArchivist(archive, clock, logger)
  const bus = createMemoryBus()
  const announcer = createAnnouncer({ bus, archivist, policy, rules, isStoreVolatile: true })
  const lookup = createArchiveLookup(archive, clock, logger)
  const cache = createQueryCache(0)
  const tracker = createTracker({ store, lookup, announcer, policy, clock, logger })
  const reader = createReader({
    store,
    loadForQuery: store.load,
    lookup,
    cache,
    policy,
    clock,
    logger,
    tick: (userId) => tracker.report(userId, { type: 'tick' }),
  })
  const evaluator = createEvaluator(rules)
  const relations = createRelations({ archive, evaluator, clock, logger })
  return {
    archive,
    store,
    bus,
    clock,
    logger,
    tracker,
    reader,
    cache,
    evaluator,
    relations,
    viewerReader: createViewerReader({ reader, relations, evaluator, rules, clock }),
    /** Users 0 to `count` are connected, each with one device. */
    async connect(count: number): Promise<void> {
      const at = clock.now()
      const arrived = Array.from({ length: count }, (_, user) =>
        tracker.apply(userName(user), { type: 'connected', activity: 'active', at, ...sessionOf(user, at) }),
      )
      await Promise.all(arrived)
    },
    async close(): Promise<void> {
      await tracker.flush()
      await archivist.flush()
      await archive.close()
    },
  }
}
