// Reads the present state of people, for queries and for watches: live state first, then the archive,
// whose people are kept hot for a while. Without the hot store it still answers, from the archive
// alone, and says so. Queries may be answered from a short local memory; watches never are, because
// they build on what they read.
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Commit, PresenceStore, Stored } from '../../store/port.ts'
import { isInvisible, step } from '../core/machine.ts'
import type { Policy } from '../core/policy.ts'
import type { PrivacyRules } from '../core/privacy.ts'
import { hasSettings, type UserRecord } from '../core/record.ts'
import { isOpenToAll } from '../privacy/visibility.ts'
import { createRecentMap } from '../recent-map.ts'
import type { Recall, Recalled } from './recall.ts'
import { createRecentLooks, createUnnoticedLooks, LOOK_HOLDS_MS, type RecentLooks } from './recent-looks.ts'

/** Users in the local memory; past it the oldest go. */
const CACHED_MAX = 50_000
/** After the archive failed nobody waits for it for so long, whether the hot store has them or not. */
const ASK_AGAIN_MS = 1_000

export interface Answer {
  /** In the order asked; null for somebody nobody has heard of. */
  records: (UserRecord | null)[]
  /** The hot store did not answer: this is what the archive knows. */
  isDegraded: boolean
}

interface Sighting extends Answer {
  /** Nothing may be left behind that tells of it. */
  isUnnoticed?: boolean
}

export interface Reader {
  /** For queries: may be as old as the local memory allows. Without a viewer it is no person who asks. */
  query(userIds: readonly string[], viewerId: string | null): Promise<Answer>
  /** For watches: what the store says now. */
  read(userIds: readonly string[], viewerId: string): Promise<Answer>
  /** What is somebody's own. How long it takes says nothing of who looked at them, nor the other way round. */
  readOwn(userId: string): Promise<Answer>
  /** Past everything that is remembered: for whoever has to know what there is. */
  readAnew(userIds: readonly string[]): Promise<Answer>
  /** Somebody changed: the local memory of them is wrong. */
  forget(userId: string): void
  /** Somebody was erased. To be asked about again would tell them from those who came back. */
  erase(userId: string): void
}

export interface ReaderParts {
  store: PresenceStore
  /** Where queries are loaded from: the store, or replicas of it, which may be a moment behind. */
  loadForQuery: PresenceStore['load']
  recall: Recall
  policy: Policy
  rules: PrivacyRules
  clock: Clock
  logger: Logger
  /** How long queries may be answered from local memory; 0 where the store is as near. */
  cacheMs: number
  /** An expiry that passed while nobody looked is to take effect. */
  tick(userId: string): void
  /** Whether something is about to happen to somebody. */
  isPending(userId: string): boolean
}

export function createReader(parts: ReaderParts): Reader {
  const { store, loadForQuery, recall, policy, rules, clock, logger, cacheMs, tick, isPending } = parts
  const looks = createRecentLooks(clock, rules)
  const ownLooks = createRecentLooks(clock, rules)
  const unnoticed = createUnnoticedLooks(rules)
  const cache = createRecentMap<{ record: UserRecord | null; until: number }>(CACHED_MAX)
  let isFailing = false
  let askAgainAt = 0

  type Load = PresenceStore['load']

  async function tryLoad(load: Load, userIds: readonly string[]): Promise<(Stored | null)[] | null> {
    try {
      const loaded = await load(userIds)
      isFailing = false
      return loaded
    } catch (error) {
      if (!isFailing) logger.error({ err: error }, 'hot store cannot be read; answering from the archive')
      isFailing = true
      return null
    }
  }

  /** By what there is of the viewer, who is read along with the others. */
  async function readFor(viewerId: string, load: Load, userIds: readonly string[]): Promise<Sighting> {
    const loaded = await tryLoad(load, [...userIds, viewerId])
    // Nothing is remembered of what the archive alone says.
    if (loaded === null) return complete(null, userIds, unnoticed)
    const isUnnoticed = await mustNotBeNoticed(viewerId, loaded.at(-1)?.record ?? null)
    return {
      ...(await complete(loaded.slice(0, -1), userIds, isUnnoticed ? unnoticed : looks)),
      isUnnoticed,
    }
  }

  async function mustNotBeNoticed(viewerId: string, hot: UserRecord | null): Promise<boolean> {
    // They may be choosing to hide in this very moment.
    if (isPending(viewerId)) return true
    // What they chose may be in the archive alone.
    const viewer = hot ?? (await readBy(store.load, [viewerId], ownLooks)).records[0] ?? null
    const privacy = viewer?.privacy ?? null
    return !isOpenToAll(privacy, rules) || (viewer !== null && isInvisible(viewer, clock.now()))
  }

  async function readBy(load: Load, userIds: readonly string[], recent: RecentLooks | null): Promise<Answer> {
    return complete(await tryLoad(load, userIds), userIds, recent)
  }

  async function complete(
    loaded: readonly (Stored | null)[] | null,
    userIds: readonly string[],
    recent: RecentLooks | null,
  ): Promise<Answer> {
    if (loaded === null) return { records: (await recall.orFail(userIds)).map(lastKnown), isDegraded: true }
    const records = loaded.map((stored) => stored?.record ?? null)
    // Once for all of them: on some systems to ask for the time takes longer than everything else here.
    const now = clock.now()
    const isPaused = recent !== null && now < askAgainAt
    const due = new Map<string, UserRecord | null>()
    for (let index = 0; index < userIds.length; index++) {
      const userId = userIds[index]!
      const hot = records[index]!
      const isDue = recent === null ? hot === null : recent.isDue(userId, hot, now)
      if (isDue && !isPaused) due.set(userId, hot)
      else if (!isDue && hot === null) records[index] = recent!.recall(userId)
    }
    if (due.size === 0) return { records, isDegraded: false }
    const found = await backfill(due, recent)
    return {
      records: records.map((record, index) => record ?? found.get(userIds[index]!) ?? null),
      isDegraded: false,
    }
  }

  /**
   * Asks the archive about these; of those whom the hot store has, only to have asked. Who is to be noticed
   * by nobody does not keep anybody hot either, which would make them quicker to come, unless something of
   * theirs is about to change.
   */
  async function backfill(
    due: ReadonlyMap<string, UserRecord | null>,
    recent: RecentLooks | null,
  ): Promise<ReadonlyMap<string, UserRecord | null>> {
    const recalled = await recall.orAfresh([...due.keys()])
    const now = clock.now()
    if (recent !== unnoticed && recalled.some(({ isAfresh }) => isAfresh)) askAgainAt = now + ASK_AGAIN_MS
    const found = new Map(due)
    const commits: Commit[] = []
    for (const [index, [userId, hot]] of [...due].entries()) {
      const { record: before, isKnown, isAfresh } = recalled[index]!
      if (hot !== null || !isKnown) {
        if (!isAfresh) recent?.note(userId, hot)
        continue
      }
      const { record, dueAt } = step(before, [{ type: 'tick' }], now, policy)
      found.set(userId, record)
      recent?.note(userId, record)
      // An expiry that passed meanwhile is a change, and changes are the tracker's to announce.
      if (record.version !== before.version) tick(userId)
      else if (recent !== unnoticed || dueAt !== null) {
        const retainUntil = dueAt === null && !hasSettings(record) ? now + LOOK_HOLDS_MS : null
        commits.push({ userId, expectedRevision: 0, record, dueAt, retainUntil })
      }
    }
    if (commits.length > 0) {
      const results = await store.commit(commits).catch((error) => {
        logger.warn({ err: error }, 'could not keep people hot')
        return []
      })
      // Whoever came while we asked the archive is in the store now, and that is the truth.
      const overtaken = commits.filter((_, index) => results[index]?.outcome === 'conflict')
      const userIds = overtaken.map(({ userId }) => userId)
      for (const [index, stored] of (userIds.length === 0 ? [] : await store.load(userIds)).entries()) {
        if (stored !== null) found.set(userIds[index]!, stored.record)
      }
    }
    return found
  }

  function remember(userId: string, record: UserRecord | null, now: number): void {
    // Of people with privacy of their own nothing is shown that may be different by now, and nobody at all
    // is not to be answered sooner than they are.
    if (record === null || record.privacy !== null || !isOpenToAll(null, rules)) return
    cache.set(userId, { record, until: now + cacheMs })
  }

  return {
    read: (userIds, viewerId) => readFor(viewerId, store.load, userIds),
    readOwn: (userId) => readBy(store.load, [userId], ownLooks),
    readAnew: (userIds) => readBy(store.load, userIds, null),
    async query(userIds, viewerId) {
      const read = (userIds: readonly string[]): Promise<Sighting> =>
        viewerId === null ? readBy(loadForQuery, userIds, looks) : readFor(viewerId, loadForQuery, userIds)
      if (cacheMs === 0) return read(userIds)
      const now = clock.now()
      // Taken before we wait: what is remembered may be forgotten meanwhile.
      const byId = new Map<string, UserRecord | null>()
      for (const userId of userIds) {
        const remembered = cache.get(userId)
        if (remembered !== undefined && remembered.until > now) byId.set(userId, remembered.record)
      }
      const stale = userIds.filter((userId) => !byId.has(userId))
      const answer = stale.length === 0 ? { records: [], isDegraded: false } : await read(stale)
      // A degraded answer is not worth remembering: the truth may be back any moment.
      if (!answer.isDegraded && answer.isUnnoticed !== true)
        stale.forEach((userId, index) => void remember(userId, answer.records[index]!, now))
      for (const [index, userId] of stale.entries()) byId.set(userId, answer.records[index]!)
      const records = userIds.map((userId) => byId.get(userId) ?? null)
      return { records, isDegraded: answer.isDegraded }
    },
    forget(userId) {
      cache.delete(userId)
      looks.forget(userId)
      ownLooks.forget(userId)
    },
    erase(userId) {
      cache.delete(userId)
      looks.erase(userId)
      ownLooks.erase(userId)
    },
  }
}

// Without the hot store the last word about somebody is whether they were here; nobody knows more.
function lastKnown({ record, isKnown, wasHere, archivedVersion }: Recalled): UserRecord | null {
  if (!isKnown) return null
  // Nor may a guess carry a version above what is true.
  const known = { ...record, version: archivedVersion }
  return wasHere ? { ...known, shown: { ...record.shown, status: 'online' } } : known
}
