// The presence pipeline on a fake clock: the real tracker, announcer, archivist and reader over a memory
// store, a memory bus and an SQLite archive in memory. A test replaces single methods of the store or the
// archive to hold or fail them. A second pipeline on the same archive is a restart.
import type { Archive } from '../../packages/server/src/archive/port.ts'
import { createSqliteArchive } from '../../packages/server/src/archive/sqlite.ts'
import { createMemoryBus } from '../../packages/server/src/bus/memory.ts'
import type { BusMessage } from '../../packages/server/src/bus/port.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import type { PresenceEvent } from '../../packages/server/src/presence/core/event.ts'
import { POLICIES } from '../../packages/server/src/presence/core/policy.ts'
import type { PrivacyRules } from '../../packages/server/src/presence/core/privacy.ts'
import type { UserRecord } from '../../packages/server/src/presence/core/record.ts'
import { createChoices } from '../../packages/server/src/presence/people/choices.ts'
import { createAnnouncer } from '../../packages/server/src/presence/pipeline/announcer.ts'
import { createArchivist } from '../../packages/server/src/presence/pipeline/archivist.ts'
import { createDuties } from '../../packages/server/src/presence/pipeline/duties.ts'
import { createDutySweep } from '../../packages/server/src/presence/pipeline/duty-sweep.ts'
import { createTracker } from '../../packages/server/src/presence/pipeline/tracker.ts'
import { createArchiveLookup } from '../../packages/server/src/presence/reading/archive-lookup.ts'
import { createQueryCache } from '../../packages/server/src/presence/reading/query-cache.ts'
import { createReader } from '../../packages/server/src/presence/reading/reader.ts'
import { createMemoryStore } from '../../packages/server/src/store/memory.ts'
import type { PresenceStore } from '../../packages/server/src/store/port.ts'
import { createFakeClock, type FakeClock, untilDone } from './fake-clock.ts'
import { OPEN_RULES, SOME_INSTANT } from './records.ts'

/** Versions count from 2025 on, so a pipeline starts after that. */
export const PIPELINE_STARTS_AT = SOME_INSTANT + 50_000_000_000
/** A gateway with watchers; `heard` is what it is sent. */
export const WATCHING = 'watching'

export interface PipelineOptions {
  /** The clock and the archive of an earlier pipeline. */
  earlier?: { clock: FakeClock; archive: Archive }
  store?: (memory: PresenceStore) => Partial<PresenceStore>
  archive?: (sqlite: Archive) => Partial<Archive>
  isStoreVolatile?: boolean
  rules?: PrivacyRules
  cacheMs?: number
  /** Records that the store keeps of users who left. */
  retainedMax?: number
  onChange?: (userId: string, record: UserRecord) => void
  onTrouble?: () => void
}

export type Pipeline = Awaited<ReturnType<typeof createPipeline>>

export async function createPipeline(options: PipelineOptions = {}) {
  const { rules = OPEN_RULES, isStoreVolatile = true, onTrouble } = options
  const policy = POLICIES.instant
  const clock: FakeClock = options.earlier?.clock ?? createFakeClock(PIPELINE_STARTS_AT)
  const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)
  const archive = options.earlier?.archive ?? (await createSqliteArchive({ path: ':memory:', clock }))
  await done(archive.migrate())
  const usedArchive: Archive = { ...archive, ...options.archive?.(archive) }
  const memory = createMemoryStore(
    options.retainedMax === undefined ? {} : { retainedMax: options.retainedMax },
  )
  const store: PresenceStore = { ...memory, ...options.store?.(memory) }

  const lines: string[] = []
  const logger = createLogger({
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line).msg) },
  })
  const bus = createMemoryBus()
  const heard: BusMessage[] = []
  await bus.subscribe(WATCHING, (messages) => void heard.push(...messages))

  const cache = createQueryCache(options.cacheMs ?? 0)
  const archivist = createArchivist(usedArchive, clock, logger, { keepsBacklog: isStoreVolatile })
  const duties = createDuties(store, clock)
  const lookup = createArchiveLookup(usedArchive, clock, logger)
  const announcer = createAnnouncer({
    bus,
    archivist,
    duties,
    policy,
    rules,
    isStoreVolatile,
    onChange: options.onChange,
  })
  const tracker = createTracker({
    store,
    lookup,
    announcer,
    policy,
    clock,
    logger,
    ...(onTrouble === undefined ? {} : { onTrouble }),
  })
  const dutySweep = createDutySweep({
    archive: usedArchive,
    store,
    lookup,
    tracker,
    archivist,
    duties,
    logger,
  })
  const choices = createChoices({ store, lookup, archivist, tracker, clock })
  const ticked: string[] = []
  const tick = (userId: string) => void ticked.push(userId)
  const reader = createReader({
    store,
    loadForQuery: store.load,
    lookup,
    cache,
    policy,
    clock,
    logger,
    tick,
    repeat: tracker.repeat,
  })

  return {
    clock,
    policy,
    rules,
    /** The archive itself; `usedArchive` is what the pipeline was given. */
    archive,
    usedArchive,
    /** The store itself; `store` is what the pipeline was given. */
    memory,
    store,
    bus,
    cache,
    archivist,
    duties,
    dutySweep,
    choices,
    lookup,
    announcer,
    tracker,
    reader,
    logger,
    /** Messages of the log. */
    lines,
    /** Users the reader asked to be ticked. */
    ticked,
    heard,
    watch: (...userIds: string[]) => memory.addInterest(WATCHING, userIds),
    /** Applies events and runs everything that can run. The outcome is filled in once there is one. */
    async outcomeOf(userId: string, ...events: PresenceEvent[]) {
      const outcome = { record: null as UserRecord | null, error: null as unknown }
      tracker.apply(userId, ...events).then(
        ({ record }) => Object.assign(outcome, { record }),
        (error: unknown) => Object.assign(outcome, { error }),
      )
      await clock.advance(1)
      await clock.advance(10)
      return outcome
    },
    /** The changes that the watching gateway was sent, oldest first. */
    changes: (): { user_id: string; status: string; version: number }[] =>
      heard.flatMap((message) => (message.kind === 'change' ? [JSON.parse(message.json)] : [])),
    stored: async (userId: string) => (await memory.load([userId]))[0]?.record ?? null,
    done,
  }
}

/** Calls that wait until they are let go, in the order they came. */
export interface Gate {
  /** How many wait. */
  waiting(): number
  /** Waits, if the gate is closed. */
  pass(): Promise<void>
  close(): void
  /** Lets one go, by its place in the order; the gate stays closed. */
  release(index?: number, failure?: Error): void
  /** Lets all go, and all that come later. */
  open(): void
}

export function createGate(): Gate {
  let isClosed = false
  const held: PromiseWithResolvers<void>[] = []
  return {
    waiting: () => held.length,
    async pass() {
      if (!isClosed) return
      const turn = Promise.withResolvers<void>()
      held.push(turn)
      await turn.promise
    },
    close() {
      isClosed = true
    },
    release(index = 0, failure) {
      const [turn] = held.splice(index, 1)
      if (turn === undefined) throw new Error(`no call waits at place ${index}`)
      if (failure === undefined) turn.resolve()
      else turn.reject(failure)
    },
    open() {
      isClosed = false
      for (const turn of held.splice(0)) turn.resolve()
    },
  }
}
