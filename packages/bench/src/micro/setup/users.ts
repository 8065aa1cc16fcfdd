// The pipeline without a network, for measurements inside one process: a real store in memory, archive,
// tracker, reader and evaluator, put together as pipeline.ts does, with connected users.
import type { Activity } from '@greendot/protocol'
import { createSqliteArchive } from '../../../../server/src/archive/sqlite.ts'
import { createMemoryBus } from '../../../../server/src/bus/memory.ts'
import { systemClock as clock } from '../../../../server/src/platform/clock.ts'
import { createLogger } from '../../../../server/src/platform/logger.ts'
import type { Tracer } from '../../../../server/src/platform/measuring/tracing.ts'
import type { SessionFacts } from '../../../../server/src/presence/core/event.ts'
import { step } from '../../../../server/src/presence/core/machine.ts'
import { POLICIES } from '../../../../server/src/presence/core/policy.ts'
import type { PrivacyRules } from '../../../../server/src/presence/core/privacy.ts'
import { emptyRecord, type UserRecord } from '../../../../server/src/presence/core/record.ts'
import { createPresence } from '../../../../server/src/presence/presence.ts'
import { createMemoryStore } from '../../../../server/src/store/memory.ts'

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

export async function createUsers({ tracer = null }: { tracer?: Tracer | null } = {}) {
  const logger = createLogger({ level: 'error' })
  const archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const store = createMemoryStore()
  const bus = createMemoryBus()
  const options = { isStoreVolatile: true, cacheMs: 0, policy, rules }
  const presence = createPresence({ ...options, archive, store, bus, clock, logger, tracer })
  const { tracker, archivist } = presence
  return {
    ...presence,
    archive,
    store,
    bus,
    clock,
    logger,
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
