// The shell around the machine: collects events, and once per turn of the loop loads everybody they
// concern, steps them, commits with compare-and-set, archives and publishes. One batch is under way
// at a time and a user is in it once, so this process never races against itself; on a conflict
// with another process the user is loaded and stepped again. Whoever has to be read from the archive
// is set aside until that is done: what others do takes no longer for it.
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { CommitResult, PresenceStore, Stored } from '../store/port.ts'
import type { Announcer, Transition } from './announcer.ts'
import type { PresenceEvent } from './event.ts'
import { step } from './machine.ts'
import type { Policy } from './policy.ts'
import type { Recall, Recalled } from './recall.ts'
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
  /**
   * Resolves when everything reported in this turn of the loop is, but for people who are read from the
   * archive first. Whoever looks waits for it: what they see is then the same, whoever else did something.
   */
  settle(): Promise<void>
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
  /** Counts up, so that whoever waits for all there is so far can tell it from what comes later. */
  number: number
  events: PresenceEvent[]
  /** What the archive said of them; null as long as it was not asked. */
  recalled: Recalled | null
  /** A commit may have gone through without anybody hearing of it: say again what is true. */
  isRepeated: boolean
  waiters: { resolve: (tracked: Tracked) => void; reject: (error: unknown) => void }[]
}

/** Waits for everything up to a number, and for a batch. */
interface Onlooker {
  upTo: number
  afterBatch: number
  /** Waits too for those who are read from the archive. */
  isPatient: boolean
  resolve(): void
}

/** One user on the way through a batch. */
interface Stepped extends Transition {
  work: Work
  dueAt: number | null
}

export function createTracker(parts: TrackerParts): Tracker {
  const { store, recall, announcer, policy, clock, logger, onTrouble } = parts
  let queue = new Map<string, Work>()
  let underWay: ReadonlyMap<string, Work> = new Map()
  /** Works whose people are being read from the archive, and for each person the end of the last reading. */
  const aside = new Set<Work>()
  const readings = new Map<string, Promise<void>>()
  /** Works whose people were read. */
  const ready = new Map<string, Work>()
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
      work = { number: ++worksSoFar, events: [], recalled: null, isRepeated: false, waiters: [] }
      queue.set(userId, work)
      start()
    }
    work.events.push(...events)
    return work
  }

  function start(): void {
    if (isRunning) return
    isRunning = true
    clock.soon(() => void run())
  }

  async function run(): Promise<void> {
    while (isAwaited()) {
      const batch = takeBatch()
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
      // Sockets get their turn between batches; whoever was read had to wait already.
      if (ready.size === 0 && isAwaited()) await new Promise<void>((resolve) => clock.soon(resolve))
    }
    isRunning = false
  }

  const isAwaited = () =>
    queue.size + ready.size > 0 || onlookers.some(({ afterBatch }) => afterBatch > batchesTaken)

  function serveOnlookers(): void {
    if (onlookers.length === 0) return
    let oldest = Number.POSITIVE_INFINITY
    for (const works of [queue, ready]) {
      for (const { number } of works.values()) oldest = Math.min(oldest, number)
    }
    let oldestOfAll = oldest
    for (const { number } of aside) oldestOfAll = Math.min(oldestOfAll, number)
    const isServed = ({ afterBatch, upTo, isPatient }: Onlooker) =>
      afterBatch <= batchesTaken && upTo < (isPatient ? oldestOfAll : oldest)
    const served = onlookers.filter(isServed)
    onlookers = onlookers.filter((onlooker) => !isServed(onlooker))
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

  /** Who was read comes first; whatever else there is of them has to wait until that is done. */
  function takeBatch(): Map<string, Work> {
    const batch = takeFrom(ready, new Map())
    if (batch.size > 0 || queue.size > BATCH_USERS_MAX) return takeFrom(queue, batch)
    const everybody = queue
    queue = new Map()
    return everybody
  }

  function takeFrom(works: Map<string, Work>, batch: Map<string, Work>): Map<string, Work> {
    for (const [userId, work] of works) {
      if (batch.size === BATCH_USERS_MAX) break
      if (batch.has(userId)) continue
      batch.set(userId, work)
      works.delete(userId)
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
    const loaded = await store.load(userIds)
    const all: Stepped[] = []
    const unread = new Map<string, Work>()
    for (const [index, userId] of userIds.entries()) {
      const work = works.get(userId) as Work
      const stored = loaded[index] ?? null
      // Nothing overtakes what happened to them before.
      if (work.recalled === null && (mustBeRead(stored, work) || readings.has(userId))) {
        works.delete(userId)
        unread.set(userId, work)
        continue
      }
      if (stored === null && work.recalled!.isAfresh && work.events.some(isMerged)) {
        reject(work, new Unavailable('what was chosen before cannot be read'))
        continue
      }
      const { record, revision } = stored ?? { record: work.recalled!.record, revision: 0 }
      const { record: after, dueAt } = step(record, work.events, now, policy)
      const isRepeated = work.isRepeated || work.events.some((event) => event.type === 'gateway_lost')
      all.push({ userId, work, before: record, revision, after, dueAt, interested: NOBODY, isRepeated })
    }
    if (unread.size > 0) setAside(unread)
    return all
  }

  /** Each has a reading of its own: nothing is sooner ready because something else was waiting already. */
  function setAside(works: ReadonlyMap<string, Work>): void {
    const before = [...works.keys()].flatMap((userId) => readings.get(userId) ?? [])
    const reading = read()
    for (const [userId, work] of works) {
      aside.add(work)
      readings.set(userId, reading)
    }

    async function read(): Promise<void> {
      const recalled = await recall.orAfresh([...works.keys()])
      if (before.length > 0) await Promise.all(before)
      let next = 0
      for (const [userId, work] of works) {
        work.recalled = recalled[next++]!
        aside.delete(work)
        if (readings.get(userId) === reading) readings.delete(userId)
        makeReady(userId, work)
      }
      if (isRunning) return
      isRunning = true
      void run()
    }
  }

  function makeReady(userId: string, work: Work): void {
    const earlier = ready.get(userId)
    if (earlier === undefined) {
      ready.set(userId, work)
      return
    }
    earlier.events.push(...work.events)
    earlier.waiters.push(...work.waiters)
    earlier.isRepeated ||= work.isRepeated
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

  const depth = () => queue.size + ready.size + aside.size

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
      if (depth() + underWay.size === 0) return Promise.resolve()
      return new Promise((resolve) =>
        onlookers.push({ upTo: worksSoFar, afterBatch: 0, isPatient: true, resolve }),
      )
    },
    settle() {
      return new Promise((resolve) => {
        // A turn later the batch has been told to those who watch as well.
        const resolveSoon = () => clock.soon(resolve)
        const afterBatch = batchesTaken + 1
        onlookers.push({ upTo: worksSoFar, afterBatch, isPatient: false, resolve: resolveSoon })
        start()
      })
    },
    depth,
  }
}

/** It would merge with nothing: take the place of what was chosen before, or leave it as it was. */
const isMerged = ({ type }: PresenceEvent) => type === 'set_privacy' || type === 'unlist'

/**
 * Whether the archive is to be asked first. It is asked too about those who are not here for anybody to see
 * when something is chosen for them: that must not take effect sooner for somebody invisible, who is in the
 * store, than for somebody who left long ago.
 */
function mustBeRead(stored: Stored | null, { events }: Work): boolean {
  if (stored === null) return true
  return stored.record.shown.status === 'offline' && events.some(({ type }) => CHOICES.has(type))
}

/** What can be seen of somebody who is not here. */
const CHOICES: ReadonlySet<PresenceEvent['type']> = new Set([
  'set_custom_status',
  'set_privacy',
  'contacts_changed',
])
