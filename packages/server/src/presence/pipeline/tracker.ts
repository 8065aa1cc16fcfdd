// The shell around the machine: collects events, and once per turn of the loop loads the users they
// concern, steps them, commits with compare-and-set, and announces. One batch is under way at a time and
// holds a user once, so this process never races against itself. On a conflict with another process the
// user is loaded and stepped again.
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Tracer } from '../../platform/measuring/tracing.ts'
import type { Commit, PresenceStore, Stored } from '../../store/port.ts'
import type { PresenceEvent } from '../core/event.ts'
import { nextDeadline, step } from '../core/machine.ts'
import type { Policy } from '../core/policy.ts'
import type { UserRecord } from '../core/record.ts'
import type { ArchivedRecord, ArchiveLookup } from '../reading/archive-lookup.ts'
import { Unavailable } from '../unavailable.ts'
import type { Announcer, Transition } from './announcer.ts'
import { applyByArchive } from './archive-only.ts'
import { createArchiveReadQueue } from './archive-read-queue.ts'
import { createBatchSize } from './batch-size.ts'
import { batchSpansOf } from './batch-spans.ts'
import { createBatchWaits } from './batch-waits.ts'
import { changeRecordOf } from './change-record.ts'
import { createRepeats } from './repeats.ts'
import { presumeHere } from './restore.ts'
import { createReviews } from './reviews.ts'
import { createWork, refuseMerges, reject, splitWorks, type Tracked, type Work } from './work.ts'

/** Conflicts in a row for one user before the batch fails. */
const ATTEMPTS_MAX = 20
/** A user stays hot after leaving: queries for the last seen come then, and replays change nothing. */
const RETAIN_MS = 300_000
const NO_GATEWAYS: readonly string[] = []

export { UNSTORED_REVISION } from './archive-only.ts'
export type { Tracked } from './work.ts'

export interface Tracker {
  /** Applies an event soon; the caller does not wait for it. */
  report(userId: string, event: PresenceEvent): void
  /** Applies events as one and resolves with the committed state, once what must be durable is. */
  apply(userId: string, ...events: PresenceEvent[]): Promise<Tracked>
  /** The same for a caller that asked the archive before: where the store does not know the user, that is the base. */
  applyTo(archived: ArchivedRecord, userId: string, ...events: PresenceEvent[]): Promise<Tracked>
  /** Announces the present state of a user again, soon. */
  repeat(userId: string): void
  /** What an event would come to by the archive alone, for when the store does not answer. */
  applyWithoutStore(userId: string, event: PresenceEvent): Promise<Tracked>
  /** Resolves when what is queued now is committed or failed, but for users that are being looked up. */
  catchUp(): Promise<void>
  /** Resolves when nothing is left to do. */
  flush(): Promise<void>
  depth(): number
  /** False while updates are known not to arrive. */
  isReachable(): boolean
}

export interface TrackerParts {
  store: PresenceStore
  lookup: ArchiveLookup
  announcer: Announcer
  policy: Policy
  clock: Clock
  logger: Logger
  /** Every new version of a user is put into the change log with its commit. */
  isLogged?: () => boolean
  /** A batch could not be committed: what it reported is lost. */
  onTrouble?: () => void
  /** A batch was committed. */
  onBatch?: (tookMs: number) => void
  /** Null where nothing is traced. */
  tracer?: Tracer | null
}

/** One user on the way through a batch. */
interface Stepped extends Transition {
  work: Work
  dueAt: number | null
}

interface Loaded {
  userId: string
  work: Work
  stored: Stored | null
}

const raisesDoubt = (event: PresenceEvent): boolean =>
  ('again' in event && event.again !== undefined) || event.type === 'gateway_lost' || event.type === 'doubted'

/**
 * A gateway announces itself again because the store may have lost something, perhaps the newest choices. What is left
 * under its former name are users who left meanwhile, and their choices may be lost too. They are read after the
 * announcement, which must not wait for a slow archive: meanwhile its sessions would count as lost.
 */
const isDoubtful = ({ archived, events }: Work): boolean => archived === null && events.some(raisesDoubt)

/** Steps a user once more, with what the archive says. */
const createReview = (): Work => ({ ...createWork(), events: [{ type: 'tick' }], isReview: true })

const isTicked = ({ events, waiters }: Work): boolean =>
  waiters.length === 0 && events.every(({ type }) => type === 'tick')

export function createTracker(parts: TrackerParts): Tracker {
  const {
    store,
    lookup,
    announcer,
    policy,
    clock,
    logger,
    isLogged = () => false,
    onTrouble,
    onBatch,
  } = parts
  const tracer = parts.tracer ?? null
  let queue = new Map<string, Work>()
  const batchSize = createBatchSize()
  const readQueue = createArchiveReadQueue(lookup, startSoon)
  const reviews = createReviews({
    lookup,
    clock,
    review: (userIds) => readQueue.add(new Map(Array.from(userIds, (userId) => [userId, createReview()]))),
  })
  let isRunning = false
  let isFailing = false
  const waits = createBatchWaits()
  const repeats = createRepeats(clock, repeat)

  function enqueue(userId: string, ...events: PresenceEvent[]): Work {
    let work = queue.get(userId)
    if (work === undefined) {
      work = createWork()
      queue.set(userId, work)
      startSoon()
    }
    work.events.push(...events)
    if (tracer !== null && work.span === null && events.length > 0)
      work.span = tracer.begin(`presence ${events[0]!.type}`)
    return work
  }

  function startSoon(): void {
    if (isRunning) return
    isRunning = true
    clock.soon(() => void run())
  }

  async function run(): Promise<void> {
    for (;;) {
      // Users that were looked up have waited longest, and their later events must not overtake them.
      const lookedUp = readQueue.take(batchSize.usersMax())
      if (lookedUp !== null) await process(lookedUp)
      else if (queue.size > 0) {
        const batch = takeBatch()
        // Users that must be looked up leave the batch.
        const users = batch.size
        waits.take(users)
        await process(batch)
        waits.end(users)
      } else break
      if (queue.size === 0 && readQueue.size() === 0) break
      // Sockets get their turn between batches.
      await clock.nextTurn()
    }
    isRunning = false
    if (readQueue.size() === 0) waits.idle()
  }

  async function process(batch: Map<string, Work>): Promise<void> {
    const startedAt = clock.elapsed()
    const users = batch.size
    try {
      await commitBatch(batch)
      isFailing = false
      const tookMs = clock.elapsed() - startedAt
      batchSize.ended(users, tookMs)
      onBatch?.(tookMs)
    } catch (error) {
      batchSize.failed()
      // What was reported may be lost: gateways announce their sessions again, and callers hear of it.
      if (!isFailing) logger.error({ err: error, users: batch.size }, 'a presence batch failed')
      isFailing = true
      onTrouble?.()
      const failure = new Unavailable('the store does not answer', { cause: error })
      for (const work of batch.values()) reject(work, failure)
      repeats.later(batch.keys())
    }
  }

  function takeBatch(): Map<string, Work> {
    const [batch, rest] = splitWorks(queue, batchSize.usersMax())
    queue = rest
    return batch
  }

  // Without a tick: after an outage the store may have lost that a user came back, and deadlines wait for the sweeper,
  // which gives gateways time to say so.
  function repeat(userId: string): void {
    enqueue(userId).isRepeated = true
  }

  async function commitBatch(batch: Map<string, Work>): Promise<void> {
    let remaining = batch
    const reviewed = new Map<string, Work>()
    for (let attempt = 0; remaining.size > 0; attempt++) {
      if (attempt === ATTEMPTS_MAX) throw new Error(`gave up after ${ATTEMPTS_MAX} conflicts`)
      const now = clock.now()
      const works = remaining
      const spans = tracer === null ? null : batchSpansOf(remaining)
      const { loaded, missing } = await (spans?.around('store.load', () => load(works, now)) ??
        load(works, now))
      for (const { userId, work } of loaded) {
        if (isDoubtful(work)) reviewed.set(userId, createReview())
        if (work.isReview && work.archived?.isUnread) reviews.later(userId)
      }
      // They are not of this batch any more and do not fail with it.
      for (const userId of missing.keys()) batch.delete(userId)
      readQueue.add(missing)
      const stepped = loaded.flatMap((one) => stepUser(one, now) ?? [])
      const changed = stepped.filter((one) => one.after !== one.before || one.isRepeated)
      const commit = () => store.commit(changed.map((one) => toCommit(one, now)))
      const results = changed.length === 0 ? [] : await (spans?.around('store.commit', commit) ?? commit())
      remaining = new Map()
      const committed: Stepped[] = []
      for (const [index, one] of changed.entries()) {
        const result = results[index]!
        if (result.outcome === 'conflict') {
          // Another process was quicker, or our own commit went through and its answer was lost.
          one.work.isRepeated = true
          remaining.set(one.userId, one.work)
        } else {
          one.revision = result.revision
          one.interested = result.interested
          if (result.unannounced !== undefined) one.unannounced = result.unannounced
          committed.push(one)
        }
      }
      announcer.announce(committed, now, answer)
      for (const one of stepped) {
        if (one.after !== one.before || one.isRepeated) continue
        answer(one)
        one.span?.end({ changed: false })
      }
    }
    if (reviewed.size > 0) readQueue.add(reviewed)
  }

  /** Users that can be stepped, and those that must be looked up first. */
  async function load(
    works: ReadonlyMap<string, Work>,
    now: number,
  ): Promise<{ loaded: Loaded[]; missing: Map<string, Work> }> {
    const records = await store.load([...works.keys()])
    const loaded: Loaded[] = []
    const missing = new Map<string, Work>()
    let next = 0
    for (const [userId, work] of works) {
      const stored = records[next++] ?? null
      // A tick, or a repeat, of a user that a settling shard does not know would make the user absent.
      if (stored === null && isTicked(work) && now < store.settlesAt(store.shardOf(userId))) {
        work.span?.end({ changed: false })
        continue
      }
      const isUnknown = stored === null || stored.record.settings === 'unknown'
      const mustWait = work.archived === null && (isUnknown || readQueue.has(userId))
      if (mustWait) missing.set(userId, work)
      else loaded.push({ userId, work, stored })
    }
    return { loaded, missing }
  }

  function stepUser({ userId, work, stored }: Loaded, now: number): Stepped | null {
    const { archived } = work
    const before = stored?.record ?? baseOf(userId, archived!, now)
    const found = archived?.isUnread === false && stored !== null ? archived.record : null
    const isUnknown = before.settings === 'unknown'
    if (isUnknown && found === null) refuseMerges(work)
    const { events, waiters } = work
    const revision = stored?.revision ?? 0
    const { span } = work
    if (events.length === 0 && waiters.length === 0 && found === null) {
      if (!work.isRepeated) {
        span?.end({ changed: false })
        return null
      }
      const dueAt = nextDeadline(before, policy)
      const same = { before, revision, after: before, dueAt, interested: NO_GATEWAYS }
      return { userId, work, ...same, isRepeated: true, span }
    }
    const first: PresenceEvent[] = found === null ? [] : [{ type: 'settings_found', archived: found }]
    // The store has lost versions that the archive has: rows with smaller ones would be ignored there.
    if (found !== null && archived!.archivedVersion > before.version)
      first.push({ type: 'raise_version', version: archived!.archivedVersion })
    const { record: after, dueAt } = step(before, [...first, ...events], now, policy)
    // The store lost its memory of a user who is not shown any more: the row would say for ever that the user is here.
    const isStale =
      stored === null && archived?.user.lastSeen?.status === 'here' && after.shown.status === 'offline'
    // A user whose settings were unknown was not shown, whatever happened.
    const isRepeated =
      work.isRepeated ||
      isStale ||
      (isUnknown && found !== null) ||
      events.some(({ type }) => type === 'gateway_lost')
    return { userId, work, before, revision, after, dueAt, interested: NO_GATEWAYS, isRepeated, span }
  }

  /**
   * The record from which a user is stepped that the store does not know. Where the store has just lost its memory, a user whose row
   * says that they were here is presumed to be here until it has settled: gateways announce those who are, one after
   * the other, so the end of one session proves nothing.
   */
  function baseOf(userId: string, { user, record, wasHere }: ArchivedRecord, now: number): UserRecord {
    const lostAt = store.settlesAt(store.shardOf(userId))
    if (now >= lostAt || !wasHere) return record
    return presumeHere(user, { aliveAt: user.lastSeen!.updatedAt, lostAt, now, policy, hasOthers: true })
  }

  function toCommit(one: Stepped, now: number): Commit {
    const { userId, revision, after, dueAt } = one
    const retainUntil = after.sessions.length === 0 ? now + RETAIN_MS : null
    const owed = announcer.owed(one, now)
    const logged = isLogged() ? changeRecordOf(one, now) : undefined
    const commit = { userId, expectedRevision: revision, record: after, dueAt, retainUntil }
    return { ...commit, ...(owed && { owed }), ...(logged && { logged }) }
  }

  function answer(one: Stepped, isTold = true): void {
    const { work, after: record, revision } = one
    if (!isTold) reject(work, new Unavailable('gateways could not be told'))
    else for (const waiter of work.waiters) waiter.resolve({ record, revision })
  }

  function applyTo(
    archived: ArchivedRecord | null,
    userId: string,
    events: readonly PresenceEvent[],
  ): Promise<Tracked> {
    return new Promise((resolve, reject) => {
      const work = enqueue(userId, ...events)
      work.archived ??= archived
      work.waiters.push({ events, resolve, reject })
    })
  }

  return {
    report: (userId, event) => void enqueue(userId, event),
    apply: (userId, ...events) => applyTo(null, userId, events),
    applyTo: (archived, userId, ...events) => applyTo(archived, userId, events),
    repeat,
    applyWithoutStore: (userId, event) => applyByArchive(parts, userId, event),
    catchUp: () => waits.untilEnded(queue.size),
    async flush() {
      if (isRunning || readQueue.size() > 0) await waits.untilIdle()
    },
    depth: () => queue.size + readQueue.size() + reviews.size(),
    isReachable: () => true,
  }
}
