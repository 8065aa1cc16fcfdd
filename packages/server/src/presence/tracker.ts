// The shell around the machine: collects events, and once per turn of the loop loads everybody they
// concern, steps them, commits with compare-and-set, archives and publishes. One batch is under way
// at a time and a user is in it once, so this process never races against itself; on a conflict
// with another process the user is loaded and stepped again.
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { CommitResult, PresenceStore, Stored } from '../store/port.ts'
import type { Announcer, Transition } from './announcer.ts'
import type { PresenceEvent } from './event.ts'
import { step } from './machine.ts'
import type { Policy } from './policy.ts'
import type { Recall } from './recall.ts'
import { hasSettings, type UserRecord } from './record.ts'
import { Unavailable } from './unavailable.ts'

/** Users per batch; bounds how long one turn works. */
const BATCH_USERS_MAX = 1_000
/** Conflicts in a row for one user before we give up and say so. */
const ATTEMPTS_MAX = 20
/** Hot for a while after they left: their last seen is what people ask for then, and replays change nothing. */
const RETAIN_MS = 300_000
const REPEAT_MS = 500
const DOUBTFUL_MAX = 100_000
const NOBODY: readonly string[] = []
/** Below every revision a store gives. */
export const IMAGINED_REVISION = 0.5

export interface Tracked {
  record: UserRecord
  revision: number
}

export interface Tracker {
  /** Applies an event soon; nobody waits for it. */
  report(userId: string, event: PresenceEvent): void
  /** Applies events as one and resolves with the committed state, once what must be durable is. */
  apply(userId: string, ...events: PresenceEvent[]): Promise<Tracked>
  /** What an event would come to by the archive alone, for when the store cannot be asked. */
  imagine(userId: string, event: PresenceEvent): Promise<Tracked>
  /** Resolves when everything reported so far is committed, or could not be. */
  flush(): Promise<void>
  depth(): number
}

export interface TrackerParts {
  store: PresenceStore
  recall: Recall
  announcer: Announcer
  policy: Policy
  clock: Clock
  logger: Logger
  /** A batch could not be committed: what it said is lost. */
  onTrouble?: () => void
}

interface Work {
  events: PresenceEvent[]
  /** A commit may have gone through without anybody hearing of it: say again what is true. */
  isRepeated: boolean
  waiters: { resolve: (tracked: Tracked) => void; reject: (error: unknown) => void }[]
}

/** One user on the way through a batch. */
interface Stepped extends Transition {
  work: Work
  dueAt: number | null
}

export function createTracker(parts: TrackerParts): Tracker {
  const { store, recall, announcer, policy, clock, logger, onTrouble } = parts
  let queue = new Map<string, Work>()
  let running: Promise<void> | null = null
  let isFailing = false
  let batchesDone = 0
  let flushers: { afterBatch: number; resolve: () => void }[] = []
  /** Users of batches that failed: whether they were committed is not known. */
  const doubtful = new Set<string>()
  let willRepeat = false

  function enqueue(userId: string, ...events: PresenceEvent[]): Work {
    let work = queue.get(userId)
    if (work === undefined) {
      work = { events: [], isRepeated: false, waiters: [] }
      queue.set(userId, work)
    }
    work.events.push(...events)
    running ??= new Promise((resolve) => clock.soon(() => void run().then(resolve)))
    return work
  }

  async function run(): Promise<void> {
    while (queue.size > 0) {
      const batch = takeBatch()
      try {
        await processBatch(batch)
        isFailing = false
      } catch (error) {
        // What was reported may be gone; whoever can say it again must know, and whoever waits too.
        if (!isFailing) logger.error({ err: error, users: batch.size }, 'presence batch failed')
        isFailing = true
        onTrouble?.()
        const failure = new Unavailable('the store does not answer', { cause: error })
        for (const work of batch.values()) reject(work, failure)
        repeatLater(batch.keys())
      }
      batchesDone++
      const isServed = (flusher: (typeof flushers)[number]) => flusher.afterBatch <= batchesDone
      for (const flusher of flushers.filter(isServed)) flusher.resolve()
      flushers = flushers.filter((flusher) => !isServed(flusher))
      // Sockets get their turn between batches.
      if (queue.size > 0) await new Promise<void>((resolve) => clock.soon(resolve))
    }
    running = null
  }

  // A commit whose answer was lost has changed somebody without anybody hearing of it.
  function repeatLater(userIds: Iterable<string>): void {
    for (const userId of userIds) if (doubtful.size < DOUBTFUL_MAX) doubtful.add(userId)
    if (willRepeat) return
    willRepeat = true
    clock.after(REPEAT_MS, () => {
      willRepeat = false
      for (const userId of doubtful) enqueue(userId, { type: 'tick' }).isRepeated = true
      doubtful.clear()
    })
  }

  function takeBatch(): Map<string, Work> {
    if (queue.size <= BATCH_USERS_MAX) {
      const batch = queue
      queue = new Map()
      return batch
    }
    const batch = new Map<string, Work>()
    for (const [userId, work] of queue) {
      batch.set(userId, work)
      queue.delete(userId)
      if (batch.size === BATCH_USERS_MAX) break
    }
    return batch
  }

  async function processBatch(batch: Map<string, Work>): Promise<void> {
    let remaining = batch
    for (let attempt = 0; remaining.size > 0; attempt++) {
      if (attempt === ATTEMPTS_MAX) throw new Error(`gave up after ${ATTEMPTS_MAX} conflicts`)
      const now = clock.now()
      const stepped = await stepAll(remaining, now)
      const changed = stepped.filter((one) => one.after !== one.before || one.isRepeated)
      const results = changed.length === 0 ? [] : await store.commit(changed.map((one) => toCommit(one, now)))
      remaining = new Map()
      const committed: Stepped[] = []
      for (const [index, one] of changed.entries()) {
        const result = results[index] as CommitResult
        if (result.outcome === 'conflict') {
          // Either somebody else was quicker, or it was us and the answer was lost.
          one.work.isRepeated = true
          remaining.set(one.userId, one.work)
        } else {
          one.revision = result.revision
          one.interested = result.interested
          committed.push(one)
        }
      }
      announcer.announce(committed, now, answer)
      for (const one of stepped) if (one.after === one.before && !one.isRepeated) answer(one)
    }
  }

  async function stepAll(works: Map<string, Work>, now: number): Promise<Stepped[]> {
    const userIds = [...works.keys()]
    const stored = await loadOrRecall(userIds)
    const all: Stepped[] = []
    for (const [index, userId] of userIds.entries()) {
      const { record, revision, isAfresh } = stored[index]!
      const work = works.get(userId) as Work
      if (isAfresh && work.events.some(({ type }) => type === 'set_privacy' || type === 'unlist')) {
        // It would merge with nothing: take the place of what was chosen before, or leave it as it was.
        reject(work, new Unavailable('what was chosen before cannot be read'))
        continue
      }
      const { record: after, dueAt } = step(record, work.events, now, policy)
      const isRepeated = work.isRepeated || work.events.some((event) => event.type === 'gateway_lost')
      all.push({ userId, work, before: record, revision, after, dueAt, interested: NOBODY, isRepeated })
    }
    return all
  }

  async function loadOrRecall(userIds: readonly string[]): Promise<(Stored & { isAfresh?: boolean })[]> {
    const loaded = await store.load(userIds)
    const missing = userIds.filter((_, index) => loaded[index] === null)
    if (missing.length === 0) return loaded as Stored[]
    const recalled = await recall.orAfresh(missing)
    let next = 0
    return loaded.map((stored) => stored ?? { ...recalled[next++]!, revision: 0 })
  }

  function reject(work: Work, failure: Unavailable): void {
    for (const waiter of work.waiters) waiter.reject(failure)
  }

  function toCommit(one: Stepped, now: number) {
    const { userId, revision, after, dueAt } = one
    const isOver = after.sessions.length === 0 && dueAt === null && !hasSettings(after)
    const retainUntil = isOver ? now + RETAIN_MS : null
    return { userId, expectedRevision: revision, record: after, dueAt, retainUntil }
  }

  function answer(one: Stepped): void {
    for (const waiter of one.work.waiters) waiter.resolve({ record: one.after, revision: one.revision })
  }

  function report(userId: string, event: PresenceEvent): void {
    enqueue(userId, event)
  }

  return {
    report,
    apply(userId, ...events) {
      return new Promise((resolve, reject) => {
        enqueue(userId, ...events).waiters.push({ resolve, reject })
      })
    },
    async imagine(userId, event) {
      const [recalled] = await recall.orAfresh([userId])
      const { record } = step(recalled!.record, [event], clock.now(), policy)
      return { record, revision: IMAGINED_REVISION }
    },
    flush() {
      if (running === null) return Promise.resolve()
      // Those queued now are in the batch under way, if there is one, and in the next few.
      const afterBatch = batchesDone + 1 + Math.ceil(queue.size / BATCH_USERS_MAX)
      return new Promise((resolve) => {
        flushers.push({ afterBatch, resolve })
        void running?.then(resolve)
      })
    },
    depth: () => queue.size,
  }
}
