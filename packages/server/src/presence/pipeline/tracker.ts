// The shell around the machine: collects events, and once per turn of the loop loads everybody they
// concern, steps them, commits with compare-and-set, archives and publishes. One batch is under way
// at a time and a user is in it once, so this process never races against itself; on a conflict
// with another process the user is loaded and stepped again. Whoever has to be read from the archive
// waits in a room of their own: what others do takes no longer for it.
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { CommitResult, PresenceStore, Stored } from '../../store/port.ts'
import type { PresenceEvent } from '../core/event.ts'
import { step } from '../core/machine.ts'
import type { Policy } from '../core/policy.ts'
import { hasSettings } from '../core/record.ts'
import type { Recall } from '../reading/recall.ts'
import { Unavailable } from '../unavailable.ts'
import type { Announcer, Transition } from './announcer.ts'
import { createWaitingRoom } from './archive-read-queue.ts'
import { createWork, isTick, reject, type Tracked, type Work } from './work.ts'

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

export type { Tracked } from './work.ts'

export interface Tracker {
  /** Applies an event soon; nobody waits for it. */
  report(userId: string, event: PresenceEvent): void
  /** Applies events as one and resolves with the committed state, once what must be durable is. */
  apply(userId: string, ...events: PresenceEvent[]): Promise<Tracked>
  /** What an event would come to by the archive alone, for when the store cannot be asked. */
  imagine(userId: string, event: PresenceEvent): Promise<Tracked>
  /** Resolves when everything reported so far is committed, or could not be. */
  flush(): Promise<void>
  /** The same, but for people who are being read from the archive. */
  catchUp(): Promise<void>
  /**
   * Resolves a turn after the next batch. Whoever looks waits for it: what was done in the turn in which they
   * ask is in what they see, or is not, whoever else did something in it.
   */
  settle(): Promise<void>
  /** Whether anything that was said of somebody is still to be done. */
  isPending(userId: string): boolean
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

/** Somebody who waits for us. */
type Onlooker = { resolve(): void } & (
  | { until: 'all is done' | 'all but those being read is done'; upTo: number }
  | { until: 'a batch is done'; afterBatch: number }
)

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

export function createTracker(parts: TrackerParts): Tracker {
  const { store, recall, announcer, policy, clock, logger, onTrouble } = parts
  let queue = new Map<string, Work>()
  let underWay: ReadonlyMap<string, Work> = new Map()
  const room = createWaitingRoom(recall, startNow)
  let isRunning = false
  let isFailing = false
  let worksSoFar = 0
  let batchesTaken = 0
  let onlookers: Onlooker[] = []
  /** Users of batches that failed: whether they were committed is not known. */
  const doubtful = new Set<string>()
  let willRepeat = false

  function enqueue(userId: string, ...events: PresenceEvent[]): Work {
    let work = queue.get(userId)
    if (work === undefined) {
      work = createWork(++worksSoFar)
      queue.set(userId, work)
      startSoon()
    }
    work.events.push(...events)
    return work
  }

  function startSoon(): void {
    if (isRunning) return
    isRunning = true
    clock.soon(() => void run())
  }

  /** For people who were read, and have waited already. */
  function startNow(): void {
    if (isRunning) return
    isRunning = true
    void run()
  }

  async function run(): Promise<void> {
    let usersThisTurn = 0
    for (let batch = takeBatch(); batch !== null; batch = takeBatch()) {
      usersThisTurn += batch.size
      underWay = batch
      batchesTaken++
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
      underWay = new Map()
      serveOnlookers()
      // Sockets get their turn between batches. Whoever was read had to wait already, unless they are many.
      if (!isAwaited() && usersThisTurn < BATCH_USERS_MAX) continue
      await new Promise<void>((resolve) => clock.soon(resolve))
      usersThisTurn = 0
    }
    isRunning = false
  }

  const isAwaited = () =>
    queue.size > 0 ||
    onlookers.some((one) => one.until === 'a batch is done' && one.afterBatch > batchesTaken)

  /** Those who were read come first. An empty batch is for somebody who waits for one. */
  function takeBatch(): Map<string, Work> | null {
    const read = room.take()
    if (read !== null) return read
    if (!isAwaited()) return null
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

  function serveOnlookers(): void {
    if (onlookers.length === 0) return
    // The queue is in the order of its numbers.
    const queuedFrom = queue.values().next().value?.number ?? Number.POSITIVE_INFINITY
    const waitingFrom = Math.min(queuedFrom, room.oldest())
    const isServed = (one: Onlooker): boolean => {
      switch (one.until) {
        case 'a batch is done':
          return one.afterBatch <= batchesTaken
        case 'all but those being read is done':
          return one.upTo < queuedFrom
        case 'all is done':
          return one.upTo < waitingFrom
      }
    }
    const served = onlookers.filter(isServed)
    onlookers = onlookers.filter((one) => !isServed(one))
    for (const { resolve } of served) resolve()
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

  async function processBatch(batch: Map<string, Work>): Promise<void> {
    let remaining = batch
    for (let attempt = 0; remaining.size > 0; attempt++) {
      if (attempt === ATTEMPTS_MAX) throw new Error(`gave up after ${ATTEMPTS_MAX} conflicts`)
      const now = clock.now()
      const { present, unread } = await load(remaining)
      // What waits there is not of this batch any more, and does not fail with it.
      for (const userId of unread.keys()) batch.delete(userId)
      room.admit(unread)
      const stepped: Stepped[] = []
      for (const one of present) {
        const step = stepOne(one, now)
        if (step !== null) stepped.push(step)
      }
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
      if (room.size() > 0) for (const { userId, after } of committed) room.outdate(userId, after)
      announcer.announce(committed, now, answer)
      for (const one of stepped) if (one.after === one.before && !one.isRepeated) answer(one)
    }
  }

  /** Those who can be stepped, and those who have to be read first. */
  async function load(
    works: ReadonlyMap<string, Work>,
  ): Promise<{ present: Loaded[]; unread: Map<string, Work> }> {
    const loaded = await store.load([...works.keys()])
    const present: Loaded[] = []
    const unread = new Map<string, Work>()
    let next = 0
    for (const [userId, work] of works) {
      const stored = loaded[next++] ?? null
      if (work.recalled !== null) present.push({ userId, work, stored })
      // Nothing overtakes what happened to them before, and whatever that comes to finds out what is due.
      else if (room.isWaiting(userId)) {
        if (!isTick(work)) unread.set(userId, work)
      } else if (mustBeRead(stored, work)) unread.set(userId, work)
      else present.push({ userId, work, stored })
    }
    return { present, unread }
  }

  function stepOne({ userId, work, stored }: Loaded, now: number): Stepped | null {
    const { events, recalled, since } = work
    if (stored === null && since === null && recalled!.isAfresh && events.some(isMerged)) {
      reject(work, new Unavailable('what was chosen before cannot be read'))
      return null
    }
    const before = stored?.record ?? since ?? recalled!.record
    const { record: after, dueAt } = step(before, events, now, policy)
    const isRepeated = work.isRepeated || events.some(({ type }) => type === 'gateway_lost')
    return {
      userId,
      work,
      before,
      revision: stored?.revision ?? 0,
      after,
      dueAt,
      interested: NOBODY,
      isRepeated,
    }
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

  const depth = () => queue.size + room.size()

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
    async flush() {
      if (underWay.size + depth() === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      onlookers.push({ until: 'all is done', upTo: worksSoFar, resolve })
      await promise
    },
    async catchUp() {
      if (underWay.size + queue.size === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      onlookers.push({ until: 'all but those being read is done', upTo: worksSoFar, resolve })
      await promise
    },
    settle() {
      return new Promise((resolve) => {
        // A turn later the batch has been told to those who watch as well.
        const resolveSoon = () => clock.soon(resolve)
        onlookers.push({ until: 'a batch is done', afterBatch: batchesTaken + 1, resolve: resolveSoon })
        startSoon()
      })
    },
    isPending: (userId) => queue.has(userId) || underWay.has(userId) || room.isWaiting(userId),
    depth,
  }
}

/** It would merge with nothing: take the place of what was chosen before, or leave it as it was. */
const isMerged = ({ type }: PresenceEvent) => type === 'set_privacy' || type === 'unlist'

/**
 * Whether the archive is to be asked first. It is asked too about those who are not here for anybody to see
 * when something is chosen for them that shows all the same: that must not take effect sooner for somebody
 * invisible, who is in the store, than for somebody who left long ago.
 */
function mustBeRead(stored: Stored | null, { events }: Work): boolean {
  if (stored === null) return true
  return stored.record.shown.status === 'offline' && events.some(({ type }) => SHOWN_WHILE_AWAY.has(type))
}

/** Availability is not: it has to be chosen again before what was chosen before it ends, however slow the archive is. */
const SHOWN_WHILE_AWAY: ReadonlySet<PresenceEvent['type']> = new Set([
  'set_custom_status',
  'set_privacy',
  'contacts_changed',
])
