// The parts of a gateway as it fits them together, without sockets and by a clock that stands still: a
// real store, archive, tracker and evaluator. What a test may break is reading: the archive can be slow
// to say who is in whose list, and both it and the store can be away.
import { createSqliteArchive } from '../packages/server/src/archive/sqlite.ts'
import { createMemoryBus } from '../packages/server/src/bus/memory.ts'
import { createOutbox } from '../packages/server/src/gateway/delivery/outbox.ts'
import { ALL_AT_ONCE, type Plans } from '../packages/server/src/gateway/delivery/plans.ts'
import { createTargetTable } from '../packages/server/src/gateway/delivery/target-table.ts'
import { NIL } from '../packages/server/src/gateway/delivery/watch-index.ts'
import { type Pace, USUAL_PACE } from '../packages/server/src/gateway/delivery/waves.ts'
import { createInterner } from '../packages/server/src/gateway/interner.ts'
import { createSessionTable } from '../packages/server/src/gateway/sessions/session-table.ts'
import { createStreams } from '../packages/server/src/gateway/sessions/streams.ts'
import { createFollowing } from '../packages/server/src/gateway/watching/contact-following.ts'
import { createSights } from '../packages/server/src/gateway/watching/view-levels.ts'
import { createDiscretions } from '../packages/server/src/gateway/watching/visibility-inputs.ts'
import { createOpenness } from '../packages/server/src/gateway/watching/watcher-exposure.ts'
import { createWatches } from '../packages/server/src/gateway/watching/watches.ts'
import { createLogger } from '../packages/server/src/platform/logger.ts'
import { POLICIES } from '../packages/server/src/presence/core/policy.ts'
import type { Privacy, PrivacyRules } from '../packages/server/src/presence/core/privacy.ts'
import { createAnnouncer } from '../packages/server/src/presence/pipeline/announcer.ts'
import { createArchivist } from '../packages/server/src/presence/pipeline/archivist.ts'
import { createTracker } from '../packages/server/src/presence/pipeline/tracker.ts'
import { asSeen } from '../packages/server/src/presence/privacy/as-seen.ts'
import { createRelations } from '../packages/server/src/presence/privacy/relations.ts'
import { createReader } from '../packages/server/src/presence/reading/reader.ts'
import { createRecall } from '../packages/server/src/presence/reading/recall.ts'
import { createMemoryStore } from '../packages/server/src/store/memory.ts'
import { createFakeClock, untilDone } from './fake-clock.ts'
import { OPEN_RULES, SOME_INSTANT } from './records.ts'

export const FLUSH_MS = 50
/** The one that walks the streams runs as long as the world does. */
export const STREAM_TIMERS = 1
/** Versions count from 2025 on, so nothing here happens before. */
export const WORLD_STARTS_AT = SOME_INSTANT + 50_000_000_000

const GATEWAY = 'g-1'
const policy = POLICIES.instant

export interface GatewayWorldOptions {
  rules?: PrivacyRules
  /** Who is behind the connections 0, 1 and so on; all others are streams. */
  viewers?: readonly string[]
  watchLimit?: number
  streamsPerUser?: number
  /** How changes reach large audiences; without it, all at once. */
  plans?: Plans
  pace?: Pace
  /** What those connections are told. */
  hear?(connection: number, frame: string): void
}

export type GatewayWorld = Awaited<ReturnType<typeof createGatewayWorld>>

export async function createGatewayWorld(options: GatewayWorldOptions = {}) {
  const { rules = OPEN_RULES, viewers = [], watchLimit = 500, streamsPerUser = 32, hear = () => {} } = options
  const { plans = ALL_AT_ONCE, pace = USUAL_PACE } = options
  const clock = createFakeClock(WORLD_STARTS_AT)
  const logger = createLogger({ level: 'silent' })
  const archive = await createSqliteArchive({ path: ':memory:' })
  await archive.migrate()
  const faults = {
    /** While set, what the archive found out about contact lists waits for it. */
    gate: null as Promise<void> | null,
    isArchiveAway: false,
    isStoreAway: false,
  }
  const asked = { areContacts: 0, contactsOf: 0 }

  async function answer<T>(found: Promise<T>): Promise<T> {
    const value = await found
    await faults.gate
    if (faults.isArchiveAway) throw new Error('the database is gone')
    return value
  }
  const unsure: typeof archive = {
    ...archive,
    areContacts(pairs) {
      asked.areContacts++
      return answer(archive.areContacts(pairs))
    },
    contactsOf(ownerId, limit) {
      asked.contactsOf++
      return answer(archive.contactsOf(ownerId, limit))
    },
    read: (userIds) =>
      faults.isArchiveAway ? Promise.reject(new Error('the database is gone')) : archive.read(userIds),
  }

  const bus = createMemoryBus()
  const store = createMemoryStore()
  const load: typeof store.load = (userIds) =>
    faults.isStoreAway ? Promise.reject(new Error('the store is gone')) : store.load(userIds)
  const archivist = createArchivist(archive, clock, logger)
  const announcer = createAnnouncer({ bus, archivist, policy, rules })
  const recall = createRecall(unsure, clock, logger)
  const tracker = createTracker({ store, recall, announcer, policy, clock, logger })
  const reader = createReader({
    store: { ...store, load },
    loadForQuery: load,
    recall,
    policy,
    rules,
    clock,
    logger,
    cacheMs: 0,
    tick: (userId) => tracker.report(userId, { type: 'tick' }),
    isPending: (userId) => tracker.isPending(userId),
  })
  const discretions = createDiscretions()
  const interner = createInterner(discretions.forget)
  const table = createSessionTable(
    () => GATEWAY,
    () => 0,
  )
  const targets = createTargetTable({
    mask: (json, sight) => JSON.stringify(asSeen(JSON.parse(json), sight, rules, clock.now())),
    now: clock.now,
  })
  const users = viewers.map((userId) => interner.acquire(userId))
  const outbox = createOutbox({
    targets,
    clock,
    flushMs: FLUSH_MS,
    plans,
    pace,
    send(connection, frame) {
      if (connection >= users.length) return streams.send(connection, frame)
      hear(connection, frame)
      return 'sent'
    },
    ownFrame: () => null,
    onFrame: () => {},
  })
  const connectionsOf = (user: number) => [
    ...[...users.keys()].filter((connection) => users[connection] === user),
    ...streams.rowsOf(interner.name(user)),
  ]
  const isOpenlyHere = (user: number) => users.includes(user)
  const openness = createOpenness({ outbox, discretions, rules, isOpenlyHere, connectionsOf })
  const sights = createSights({
    interner,
    discretions,
    outbox,
    targets,
    relations: createRelations({ archive: unsure, rules, clock, logger }),
    rules,
    clock,
    viewerOf: (connection) => users[connection] ?? streams.viewerOf(connection) ?? NIL,
    openness,
    connectionsOf,
  })
  const watches = createWatches({
    interner,
    targets,
    outbox,
    store,
    reader,
    tracker,
    discretions,
    sights,
    openness,
    rules,
    gatewayId: () => GATEWAY,
    settle: tracker.settle,
    now: clock.now,
    onTrouble: () => {},
  })
  const streams = createStreams({ table, watches, outbox, clock, watchLimit, streamsPerUser })
  const following = createFollowing({
    archive: unsure,
    watches,
    watchLimit,
    rules,
    clock,
    logger,
    ownerIdOf: (connection) => interner.name(users[connection]!),
    send: hear,
  })
  await bus.subscribe(GATEWAY, (messages) => {
    for (const message of messages) if (message.kind === 'change') watches.receive(message)
  })

  function write(userId: string, text: string | null): Promise<unknown> {
    const at = nextStamp()
    return tracker.apply(userId, { type: 'set_custom_status', at, text, emoji: null, expiresAt: null })
  }

  const done = <T>(work: Promise<T>): Promise<T> => untilDone(clock, work)

  /** Nothing that is chosen here is chosen in the same millisecond. */
  let stamp = WORLD_STARTS_AT
  const nextStamp = () => {
    stamp = Math.max(clock.now(), stamp + 1)
    return stamp
  }

  return {
    clock,
    archive,
    store,
    faults,
    /** How often the archive was asked. */
    asked,
    discretions,
    interner,
    targets,
    outbox,
    sights,
    watches,
    streams,
    following,
    done,
    nextStamp,
    write,
    setText: (userId: string, text: string | null) => done(write(userId, text)),
    choose: (userId: string, change: Partial<Privacy>) =>
      done(tracker.apply(userId, { type: 'set_privacy', at: nextStamp(), change })),
    async editContacts(userId: string, contactIds: readonly string[]): Promise<void> {
      await archive.replaceContacts(userId, contactIds, clock.now())
      await done(tracker.apply(userId, { type: 'contacts_changed', at: nextStamp() }))
    },
    /** From now on answers about contact lists wait; returns the way to let them go. */
    closeGate(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      faults.gate = promise
      return () => {
        if (faults.gate === promise) faults.gate = null
        resolve()
      }
    },
    /** The connection ends and its place goes to somebody else. */
    replaceViewer(connection: number, userId: string): void {
      outbox.forget(connection)
      outbox.index.clear(connection, (target) => void interner.release(target))
      interner.release(users[connection]!)
      users[connection] = interner.acquire(userId)
    },
    close: () => archive.close(),
  }
}
