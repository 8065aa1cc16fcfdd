// How late 100,000 deadlines are found, spread over four seconds and all at one instant: the real tracker,
// store, sweeper and archive, without HTTP and with the archive in memory.
import { createSqliteArchive } from '../../../server/src/archive/sqlite.ts'
import { createMemoryBus } from '../../../server/src/bus/memory.ts'
import { systemClock as clock } from '../../../server/src/platform/clock.ts'
import { createLogger } from '../../../server/src/platform/logger.ts'
import { POLICIES } from '../../../server/src/presence/core/policy.ts'
import { startSweeper } from '../../../server/src/presence/pipeline/sweeper.ts'
import { createPresence } from '../../../server/src/presence/presence.ts'
import { createMemoryStore } from '../../../server/src/store/memory.ts'
import type { BoundGroup, Value } from './bounds.ts'
import { starvedMs } from './event-loop.ts'

const USERS = 100_000
const SPREAD_MS = 4_000
/** Time to report all closed sessions before the first deadline. */
const LEAD_MS = 1_000
const WATCHING_GATEWAY = 'g-watching'
const policy = POLICIES.instant
const userIds = Array.from({ length: USERS }, (_, n) => `user-${n}`)

type Pipeline = Awaited<ReturnType<typeof startPipeline>>

async function startPipeline() {
  const logger = createLogger({ level: 'error' })
  const archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const store = createMemoryStore()
  const bus = createMemoryBus()
  const options = {
    isStoreVolatile: true,
    cacheMs: 0,
    policy,
    rules: { defaultVisibility: 'everyone', hiddenAs: 'offline' },
  } as const
  const { tracker, archivist, dutySweep } = createPresence({ ...options, archive, store, bus, clock, logger })
  const sweeper = startSweeper({ store, tracker, dutySweep, clock, logger, cluster: null })
  await store.addInterest(WATCHING_GATEWAY, userIds)
  return {
    bus,
    tracker,
    archivist,
    async stop() {
      await sweeper.stop()
      await tracker.flush()
      await archivist.flush()
      await archive.close()
    },
  }
}

/** All users connect with a new session, so long ago that the ends of the sessions are newer. */
async function connectAll({ tracker, archivist }: Pipeline, visit: string): Promise<void> {
  const connectedAt = clock.now() - 2 * policy.offlineDelayMs
  for (const userId of userIds) {
    tracker.report(userId, {
      type: 'connected',
      at: connectedAt,
      activity: 'active',
      sessionId: `${visit}-${userId}`,
      deviceId: 'phone',
      platform: 'mobile',
      gatewayId: 'g-1',
      connectedAt,
      lastActiveAt: connectedAt,
    })
  }
  await tracker.flush()
  await archivist.flush()
}

/** All sessions close so that user n is due at `dueAtOf(n)`; resolves with how late the last was announced. */
async function lastLateMs(
  { bus, tracker }: Pipeline,
  visit: string,
  dueAtOf: (index: number) => number,
): Promise<number> {
  const announcedAt = new Float64Array(USERS)
  let announced = 0
  const { promise: allAnnounced, resolve } = Promise.withResolvers<void>()
  const unsubscribe = await bus.subscribe(WATCHING_GATEWAY, (messages) => {
    const now = clock.now()
    for (const message of messages) {
      if (message.kind !== 'change' || !message.json.includes('"offline"')) continue
      announcedAt[Number(message.userId.slice('user-'.length))] = now
      if (++announced === USERS) resolve()
    }
  })
  const starvedBeforeMs = starvedMs()
  for (const [index, userId] of userIds.entries()) {
    const at = dueAtOf(index) - policy.offlineDelayMs
    tracker.report(userId, { type: 'closed', at, sessionId: `${visit}-${userId}` })
  }
  await tracker.flush()
  const reportedAt = clock.now()
  await allAnnounced
  unsubscribe()
  // A deadline counts from when it was reported; time that other programs took is no lateness.
  const late = announcedAt.map((at, index) => at - Math.max(dueAtOf(index), reportedAt))
  return Math.max(0, late.reduce((one, other) => Math.max(one, other), 0) - (starvedMs() - starvedBeforeMs))
}

async function run(): Promise<Value[]> {
  const pipeline = await startPipeline()
  try {
    await connectAll(pipeline, 'first')
    const startsAt = clock.now() + LEAD_MS
    const spreadDueAt = (index: number) => startsAt + Math.floor((index * SPREAD_MS) / USERS)
    const spread = await lastLateMs(pipeline, 'first', spreadDueAt)
    await connectAll(pipeline, 'second')
    const dueAt = clock.now() + LEAD_MS
    const atOnce = await lastLateMs(pipeline, 'second', () => dueAt)
    return [
      { name: 'deadlines over 4 s', value: spread },
      { name: 'deadlines at one instant', value: atOnce },
    ]
  } finally {
    await pipeline.stop()
  }
}

export const deadlines: BoundGroup = {
  name: 'deadlines',
  bounds: ['deadlines over 4 s', 'deadlines at one instant'],
  run,
}
