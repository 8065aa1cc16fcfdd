// Reads the present state of users, for queries and for watches: the hot store first, then the archive,
// whose users are kept hot for a while (R2). Without the hot store it answers from the archive alone and
// says so (R3).
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { createRecentMap } from '../../platform/recent-map.ts'
import type { Commit, PresenceStore, Stored } from '../../store/port.ts'
import {
  effectiveAvailability,
  effectiveCustomStatus,
  isInvisible,
  sameCustomStatus,
  step,
} from '../core/machine.ts'
import type { Policy } from '../core/policy.ts'
import type { UserRecord } from '../core/record.ts'
import type { ArchivedRecord, ArchiveLookup } from './archive-lookup.ts'
import type { QueryCache } from './query-cache.ts'

/** How long users from the archive are kept hot. */
const BACKFILL_MS = 60_000
/** For this long a user without rows is not looked up again. */
const UNKNOWN_MS = 5_000
const UNKNOWN_USERS_MAX = 100_000

export interface Answer {
  /** In the order asked; null for a user that neither store nor archive knows. */
  records: (UserRecord | null)[]
  /** The hot store did not answer: this is what the archive knows. Or the archive did not, and users are missing. */
  isDegraded: boolean
  /** The archive did not answer: a user that is null may have been here, or the settings of a user are unknown. */
  isUnread: boolean
  /** The store answers and has lost its memory of these users: their records are what the archive knew last. */
  guessed: ReadonlySet<string>
}

export interface Reader {
  /** For queries: may be as old as the cache and replicas allow. */
  query(userIds: readonly string[]): Promise<Answer>
  /** What the store says now. */
  read(userIds: readonly string[]): Promise<Answer>
}

export interface ReaderParts {
  store: PresenceStore
  /** Where queries are loaded from: the store, or replicas of it, which may be a moment behind. */
  loadForQuery: PresenceStore['load']
  lookup: ArchiveLookup
  cache: QueryCache
  policy: Policy
  clock: Clock
  logger: Logger
  /** An expiry passed while the user was only in the archive; it must take effect. */
  tick(userId: string): void
  /** Commits the present state of the user again, announces it and writes its row. */
  repeat(userId: string): void
}

export function createReader(parts: ReaderParts): Reader {
  const { store, loadForQuery, lookup, cache, policy, clock, logger, tick, repeat } = parts
  /** Users without rows. A user that comes is found in the hot store, which is asked first. */
  const unknownUntil = createRecentMap<number>(UNKNOWN_USERS_MAX, UNKNOWN_MS)
  let isFailing = false

  async function tryLoad(
    load: PresenceStore['load'],
    userIds: readonly string[],
  ): Promise<(Stored | null)[] | null> {
    try {
      const loaded = await load(userIds)
      isFailing = false
      return loaded
    } catch (error) {
      if (!isFailing) logger.error({ err: error }, 'the hot store cannot be read; answering from the archive')
      isFailing = true
      return null
    }
  }

  async function readFrom(load: PresenceStore['load'], userIds: readonly string[]): Promise<Answer> {
    const loaded = await tryLoad(load, userIds)
    if (loaded === null)
      return {
        records: (await lookup.loadOrFail(userIds)).map((archived) => lastKnown(archived, clock.now())),
        isDegraded: true,
        isUnread: false,
        guessed: NO_USERS,
      }
    const records = loaded.map((stored) => stored?.record ?? null)
    const now = clock.now()
    const missing = new Set<string>()
    /** Users that the store does not know because it lost its memory. */
    const forgotten = new Set<string>()
    for (let index = 0; index < userIds.length; index++) {
      const userId = userIds[index]!
      if (records[index] !== null) continue
      if (now < store.settlesAt(store.shardOf(userId))) forgotten.add(userId)
      else if ((unknownUntil.get(userId) ?? 0) <= now) missing.add(userId)
    }
    if (forgotten.size > 0) return guess(userIds, records)
    // A record with unknown settings was made while the archive was away; it shows nothing.
    const isUnknown = records.some((record) => record?.settings === 'unknown')
    if (missing.size === 0) return { records, isDegraded: isUnknown, isUnread: isUnknown, guessed: NO_USERS }
    const backfilled = await backfill([...missing])
    const { found } = backfilled
    const isUnread = backfilled.isUnread || isUnknown
    return {
      records: records.map((record, index) => record ?? found.get(userIds[index]!) ?? null),
      isDegraded: isUnread,
      isUnread,
      guessed: NO_USERS,
    }
  }

  /** While the store settles: what it knows, and of the others what the archive knows. Nothing of it is kept. */
  async function guess(userIds: readonly string[], records: readonly (UserRecord | null)[]): Promise<Answer> {
    const absent = userIds.filter((_, index) => records[index] === null)
    const found = new Map<string, UserRecord | null>()
    const archived = await lookup.loadOrUnknown(absent)
    for (const [index, userId] of absent.entries())
      found.set(userId, lastKnown(archived[index]!, clock.now()))
    return {
      records: records.map((record, index) => record ?? found.get(userIds[index]!) ?? null),
      isDegraded: true,
      isUnread: archived.some(({ isUnread }) => isUnread),
      guessed: new Set(absent),
    }
  }

  /** Reads users from the archive and keeps them hot for a while. */
  async function backfill(
    userIds: readonly string[],
  ): Promise<{ found: ReadonlyMap<string, UserRecord>; isUnread: boolean }> {
    const archived = await lookup.loadOrUnknown(userIds)
    const now = clock.now()
    const found = new Map<string, UserRecord>()
    const commits: Commit[] = []
    /** They left while the store lost its memory. Their rows would say for ever that they are here. */
    const left: string[] = []
    for (const [index, userId] of userIds.entries()) {
      const { user, record: before, isKnown, isUnread } = archived[index]!
      if (!isUnread && !isKnown) unknownUntil.set(userId, now + UNKNOWN_MS, now)
      if (!isKnown) continue
      const { record, dueAt } = step(before, [{ type: 'tick' }], now, policy)
      found.set(userId, record)
      // An expiry that passed meanwhile is a change, and the tracker announces changes.
      if (record.version !== before.version) tick(userId)
      // A choice is on its way: its process commits it, and must find that it changes something.
      else if (!hasNewChoice(before, now)) {
        commits.push({ userId, expectedRevision: 0, record, dueAt, retainUntil: now + BACKFILL_MS })
        if (user.lastSeen?.status === 'here') left.push(userId)
      }
    }
    await keepHot(commits, found)
    for (const userId of left) repeat(userId)
    return { found, isUnread: archived.some(({ isUnread }) => isUnread) }
  }

  async function keepHot(commits: readonly Commit[], found: Map<string, UserRecord>): Promise<void> {
    if (commits.length === 0) return
    const results = await store.commit(commits).catch((error) => {
      logger.warn({ err: error }, 'users from the archive could not be kept hot')
      return []
    })
    // A user that connected while the archive was read is in the store now, and the store is right.
    const overtaken = commits.filter((_, index) => results[index]?.outcome === 'conflict')
    if (overtaken.length === 0) return
    const stored = await tryLoad(
      store.load,
      overtaken.map(({ userId }) => userId),
    )
    for (const [index, { userId }] of overtaken.entries()) {
      const record = stored?.[index]?.record
      if (record !== undefined) found.set(userId, record)
    }
  }

  return {
    read: (userIds) => readFrom(store.load, userIds),
    async query(userIds) {
      const now = clock.now()
      // Taken before we wait: an entry may be dropped meanwhile.
      const byId = new Map<string, UserRecord | null>()
      for (const userId of userIds) {
        const cached = cache.get(userId, now)
        if (cached !== undefined) byId.set(userId, cached)
      }
      if (byId.size === 0) return queryStore(userIds, now)
      const rest = userIds.filter((userId) => !byId.has(userId))
      const answer = rest.length === 0 ? NOTHING_ASKED : await queryStore(rest, now)
      for (const [index, userId] of rest.entries()) byId.set(userId, answer.records[index]!)
      return { ...answer, records: userIds.map((userId) => byId.get(userId) ?? null) }
    },
  }

  async function queryStore(userIds: readonly string[], now: number): Promise<Answer> {
    const mark = cache.mark()
    const answer = await readFrom(loadForQuery, userIds)
    // A degraded answer is not cached: the hot store may be back at any moment.
    if (!answer.isDegraded)
      for (const [index, userId] of userIds.entries()) cache.put(userId, answer.records[index]!, now, mark)
    return answer
  }
}

/**
 * Whether a custom status was written that is not in the row of what is shown; of an absent user nothing else is shown, and
 * of an invisible one not even that. Its stamp alone does not tell: of two choices in one millisecond the second has a
 * stamp that is later than its row.
 */
const hasNewChoice = (record: UserRecord, now: number): boolean =>
  !isInvisible(record, now) &&
  (record.customStatus?.setAt ?? 0) > record.settledAt &&
  !sameCustomStatus(effectiveCustomStatus(record, now), record.shown.customStatus)

const NO_USERS: ReadonlySet<string> = new Set()
const NOTHING_ASKED: Answer = { records: [], isDegraded: false, isUnread: false, guessed: NO_USERS }

/** Without the hot store a user who was present when the row was written is taken as online, or as chosen by hand. */
function lastKnown(archived: ArchivedRecord, now: number): UserRecord | null {
  const { record, isKnown, wasHere, archivedVersion } = archived
  if (!isKnown) return null
  // A guess must not carry a version above what is true.
  const known = { ...record, version: archivedVersion }
  if (!wasHere) return known
  const chosen = effectiveAvailability(record, now)?.status
  const status = chosen === 'away' || chosen === 'busy' ? chosen : 'online'
  // It is not the state that was shown with the version of the row, so that one must be newer: its devices are missing.
  return { ...known, version: Math.max(1, archivedVersion - 1), shown: { ...record.shown, status } }
}
