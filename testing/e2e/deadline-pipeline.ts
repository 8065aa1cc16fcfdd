// The tracker, store, sweeper and archive of a server without HTTP, and users who all come and all go. The
// archive is in memory, so that the disk of the machine plays no part.
import { createSqliteArchive } from '../../packages/server/src/archive/sqlite.ts'
import { createMemoryBus } from '../../packages/server/src/bus/memory.ts'
import type { Clock } from '../../packages/server/src/platform/clock.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { POLICIES } from '../../packages/server/src/presence/core/policy.ts'
import { startSweeper } from '../../packages/server/src/presence/pipeline/sweeper.ts'
import { createPresence } from '../../packages/server/src/presence/presence.ts'
import { createMemoryStore } from '../../packages/server/src/store/memory.ts'
import { OPEN_RULES } from '../worlds/records.ts'

/** Is told of every change. */
export const WATCHING_GATEWAY = 'g-watching'
const policy = POLICIES.instant

export async function startPipeline(clock: Clock, users: number) {
  const userIds = Array.from({ length: users }, (_, n) => `user-${n}`)
  const logger = createLogger({ level: 'error' })
  const archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const store = createMemoryStore()
  const bus = createMemoryBus()
  const options = { isStoreVolatile: true, cacheMs: 0, policy, rules: OPEN_RULES } as const
  const { tracker, archivist, dutySweep } = createPresence({ ...options, archive, store, bus, clock, logger })
  const sweeper = startSweeper({ store, tracker, dutySweep, clock, logger, cluster: null })
  await store.addInterest(WATCHING_GATEWAY, userIds)
  return {
    userIds,
    bus,
    /** Long enough ago that the ends below are newer. */
    async connectAll(): Promise<void> {
      const connectedAt = clock.now() - 2 * policy.offlineDelayMs
      for (const userId of userIds) {
        tracker.report(userId, {
          type: 'connected',
          at: connectedAt,
          activity: 'active',
          sessionId: `session-${userId}`,
          deviceId: 'phone',
          platform: 'mobile',
          gatewayId: 'g-1',
          connectedAt,
          lastActiveAt: connectedAt,
        })
      }
      await tracker.flush()
      await archivist.flush()
    },
    /** All sockets close so that each user is due at their instant. */
    async closeAll(dueAts: readonly number[]): Promise<void> {
      for (const [index, userId] of userIds.entries()) {
        const at = dueAts[index]! - policy.offlineDelayMs
        tracker.report(userId, { type: 'closed', at, sessionId: `session-${userId}` })
      }
      await tracker.flush()
    },
    async stop(): Promise<void> {
      await sweeper.stop()
      await tracker.flush()
      await archivist.flush()
      await archive.close()
    },
  }
}
