// PresenceStore in the memory of one process: the embedded default, and the reference for the other
// adapters. Each call does its work before it returns its promise, so a commit and the interest it reports
// are one atomic step. It is built for millions of users: one map entry per user, no closures, and no array
// for the usual case of one interested gateway. Records are shared and immutable.
import type { Status } from '@greendot/protocol'
import type { LogRecord } from '../log/port.ts'
import type { UserRecord } from '../presence/core/record.ts'
import { createDeadlines, type Deadlines } from './deadlines.ts'
import type { Commit, CommitResult, Duty, PresenceStore, Stored } from './port.ts'

/** Records of offline users that are kept until their `retainUntil`. */
const RETAINED_MAX = 100_000

/** A watched record with a deadline, or one whose row is not written, is kept for this much longer. */
const KEPT_LONGER_MS = 300_000

const CONFLICT: CommitResult = { outcome: 'conflict' }
const NO_GATEWAYS: readonly string[] = []

export interface MemoryStoreOptions {
  retainedMax?: number
  /** Takes the records for the change log. */
  log?: (record: LogRecord) => void
}

export function createMemoryStore(options: MemoryStoreOptions = {}): PresenceStore {
  const { retainedMax = RETAINED_MAX, log } = options
  const users = new Map<string, Stored>()
  const due = createDeadlines()
  const retained = createDeadlines()
  const duties: Record<Duty, Duties> = { announce: createDuties(), archive: createDuties() }
  const interest = createInterest()
  const leaseUntil = new Map<string, number>()
  const lostAt = new Map<string, number>()
  const summaries = new Map<string, { text: string; until: number }>()
  const counts: Record<Status, number> = { online: 0, away: 0, busy: 0, offline: 0 }
  // One counter for all users: a user who was forgotten and returns never gets an old revision again.
  let lastRevision = 0

  function commitOne(commit: Commit): CommitResult {
    const { userId, record } = commit
    const before = users.get(userId)
    if ((before?.revision ?? 0) !== commit.expectedRevision) return CONFLICT
    lastRevision += 1
    const stored: Stored = { record, revision: lastRevision }
    users.set(userId, stored)
    if (before !== undefined) counts[before.record.shown.status] -= 1
    counts[record.shown.status] += 1
    schedule(due, userId, commit.dueAt)
    schedule(retained, userId, commit.retainUntil)
    const unannounced = commit.owed?.duties.includes('announce') ? duties.announce.of(userId) : undefined
    for (const duty of commit.owed?.duties ?? []) duties[duty].put(userId, lastRevision, commit.owed!.since)
    if (commit.logged !== undefined) log?.({ userId, text: commit.logged })
    if (retained.size > retainedMax) remove(retained.first()!.key)
    const { revision } = stored
    const committed: CommitResult = { outcome: 'committed', revision, interested: interest.in(userId) }
    return unannounced === undefined ? committed : { ...committed, unannounced }
  }

  function remove(userId: string): void {
    const { record } = users.get(userId)!
    users.delete(userId)
    counts[record.shown.status] -= 1
    due.delete(userId)
    retained.delete(userId)
    for (const open of Object.values(duties)) open.delete(userId)
  }

  return {
    time: async () => null,
    shardCount: 1,
    shardOf: () => 0,
    // This memory ends with the process and not before.
    lookAtShards: async () => {},
    settlesAt: () => 0,
    load: async (userIds) => userIds.map((userId) => users.get(userId) ?? null),
    commit: async (commits) => commits.map(commitOne),
    async due(shard, now, limit) {
      if (shard !== 0) throw new RangeError(`no shard ${shard}: memory has one`)
      return due.due(now, limit).map(({ key, at }) => ({ userId: key, dueAt: at }))
    },
    async openDuties(duty, shard, until, limit) {
      if (shard !== 0) throw new RangeError(`no shard ${shard}: memory has one`)
      return duties[duty].list(until, limit)
    },
    async clearDuties(duty, done) {
      for (const { userId, revision } of done) duties[duty].clear(userId, revision)
    },
    async forget(now, limit) {
      // Only after `retainUntil`, not at it.
      const past = retained.due(now - 1, limit)
      const isWatched = (key: string) => due.has(key) && interest.in(key).length > 0
      const forgotten = past.filter(({ key }) => !duties.archive.has(key) && !isWatched(key))
      // A row is to be written, or watchers are to be told of the deadline: the record is looked at again later.
      for (const { key } of past) retained.set(key, now + KEPT_LONGER_MS)
      for (const { key } of forgotten) remove(key)
      return forgotten.length
    },
    async addInterest(gatewayId, userIds) {
      for (const userId of userIds) interest.add(gatewayId, userId)
    },
    async removeInterest(gatewayId, userIds) {
      for (const userId of userIds) interest.remove(gatewayId, userId)
    },
    async openLease(gatewayId, until) {
      leaseUntil.set(gatewayId, until)
    },
    async renewLease(gatewayId, until) {
      if (!leaseUntil.has(gatewayId)) return false
      leaseUntil.set(gatewayId, until)
      return true
    },
    async retireGateway(gatewayId, at) {
      leaseUntil.delete(gatewayId)
      lostAt.set(gatewayId, at)
    },
    async liveLeases(now) {
      return [...leaseUntil].filter(([, until]) => until > now).map(([gatewayId]) => gatewayId)
    },
    async lostGateways(now) {
      for (const [gatewayId, until] of leaseUntil) {
        if (until > now) continue
        leaseUntil.delete(gatewayId)
        lostAt.set(gatewayId, until)
      }
      return [...lostAt].map(([gatewayId, at]) => ({ gatewayId, lostAt: at }))
    },
    async dropGateway(gatewayId) {
      leaseUntil.delete(gatewayId)
      lostAt.delete(gatewayId)
      interest.drop(gatewayId)
    },
    // Without an index: gateways share this memory and end with it, so this is rarely called.
    async usersOf(gatewayId) {
      const found: string[] = []
      for (const [userId, { record }] of users) if (livesOn(record, gatewayId)) found.push(userId)
      return found
    },
    async attachedGateways() {
      const names = interest.gateways()
      for (const { record } of users.values()) {
        for (const session of record.sessions) if (session.end.state === 'live') names.add(session.gatewayId)
      }
      return [...names]
    },
    async publishSummary(name, text, until) {
      summaries.set(name, { text, until })
    },
    async summaries(now) {
      for (const [name, { until }] of summaries) if (until <= now) summaries.delete(name)
      return new Map([...summaries].map(([name, { text }]) => [name, text]))
    },
    countByStatus: async () => ({ ...counts }),
    close: async () => {},
  }
}

function schedule(deadlines: Deadlines, userId: string, at: number | null): void {
  if (at === null) deadlines.delete(userId)
  else deadlines.set(userId, at)
}

type Duties = ReturnType<typeof createDuties>

/** Users with one open duty, by the commit that left it. */
function createDuties() {
  const since = createDeadlines()
  const revisions = new Map<string, number>()

  function remove(userId: string): void {
    revisions.delete(userId)
    since.delete(userId)
  }

  return {
    put(userId: string, revision: number, at: number): void {
      revisions.set(userId, revision)
      since.set(userId, at)
    },
    of: (userId: string): number | undefined => revisions.get(userId),
    list: (until: number, limit: number) =>
      since
        .due(until, limit)
        .map(({ key, at }) => ({ userId: key, revision: revisions.get(key)!, since: at })),
    clear(userId: string, revision: number): void {
      if (revisions.get(userId) === revision) remove(userId)
    },
    has: (userId: string) => revisions.has(userId),
    delete: remove,
  }
}

/**
 * Watched user -> gateways that have a watcher. The lists are never changed in place, because commits
 * return them. All users watched by one gateway only share one list.
 */
function createInterest() {
  const gatewaysByUser = new Map<string, readonly string[]>()
  const aloneByGateway = new Map<string, readonly string[]>()

  function alone(gatewayId: string): readonly string[] {
    let list = aloneByGateway.get(gatewayId)
    if (list === undefined) {
      list = [gatewayId]
      aloneByGateway.set(gatewayId, list)
    }
    return list
  }

  function remove(gatewayId: string, userId: string): void {
    const before = gatewaysByUser.get(userId)
    if (before === undefined || !before.includes(gatewayId)) return
    const rest = before.filter((id) => id !== gatewayId)
    if (rest.length === 0) gatewaysByUser.delete(userId)
    else gatewaysByUser.set(userId, rest.length === 1 ? alone(rest[0]!) : rest)
  }

  return {
    in: (userId: string): readonly string[] => gatewaysByUser.get(userId) ?? NO_GATEWAYS,
    add(gatewayId: string, userId: string): void {
      const before = gatewaysByUser.get(userId)
      if (before === undefined) gatewaysByUser.set(userId, alone(gatewayId))
      else if (!before.includes(gatewayId)) gatewaysByUser.set(userId, [...before, gatewayId])
    },
    remove,
    gateways: () => new Set([...gatewaysByUser.values()].flat()),
    /** Walks all users: a gateway in this process is dropped at most once, when it stops. */
    drop(gatewayId: string): void {
      for (const userId of gatewaysByUser.keys()) remove(gatewayId, userId)
      aloneByGateway.delete(gatewayId)
    },
  }
}

function livesOn({ sessions }: UserRecord, gatewayId: string): boolean {
  return sessions.some((session) => session.gatewayId === gatewayId && session.end.state === 'live')
}
