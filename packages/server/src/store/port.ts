// PresenceStore: the hot state. Every call is a batch; an adapter may split it by shard and needs
// at most one round trip per shard. `now` is always passed in. The store decides nothing: it
// compares revisions, keeps the indexes and says which gateways are interested.
import type { Status } from '@greendot/protocol'
import type { UserRecord } from '../presence/core/record.ts'

export interface Stored {
  record: UserRecord
  /** Grows with every commit of this user; what compare-and-set compares. Zero means absent. */
  revision: number
}

export interface Commit {
  userId: string
  expectedRevision: number
  record: UserRecord
  /** The next instant at which the user could change by itself; null when there is none. */
  dueAt: number | null
  /** After this instant the store may forget the record, because the archive can rebuild it. Null: keep. */
  retainUntil: number | null
}

export type CommitResult =
  | { outcome: 'committed'; revision: number; interested: readonly string[] }
  | { outcome: 'conflict' }

export interface Due {
  userId: string
  dueAt: number
}

export interface LostGateway {
  gatewayId: string
  lostAt: number
}

export interface PresenceStore {
  /** What time it is by the store's own clock, for processes to agree on; null when it has none. */
  time(): Promise<number | null>
  readonly shardCount: number
  /** In the order asked; null where nothing is known. */
  load(userIds: readonly string[]): Promise<(Stored | null)[]>
  /** In the order given. One user appears at most once in a batch. */
  commit(commits: readonly Commit[]): Promise<CommitResult[]>
  /** Users of a shard whose deadline is at or before `now`, earliest first. Nothing is removed. */
  due(shard: number, now: number, limit: number): Promise<Due[]>
  /** Forgets records past their `retainUntil`, at most `limit`; returns how many. */
  forget(now: number, limit: number): Promise<number>

  addInterest(gatewayId: string, userIds: readonly string[]): Promise<void>
  removeInterest(gatewayId: string, userIds: readonly string[]): Promise<void>

  /** A gateway begins under a name nobody had before. */
  openLease(gatewayId: string, until: number): Promise<void>
  /** False when the store knows no such lease: it ran out and was taken, or the store lost it. */
  renewLease(gatewayId: string, until: number): Promise<boolean>
  /** The gateway gives its lease up: from now on it is among the lost, since `at`. */
  retireGateway(gatewayId: string, at: number): Promise<void>
  /** Names with a lease at `now`. */
  liveLeases(now: number): Promise<string[]>
  /**
   * Takes the leases that ran out at or before `now`, so that they cannot be renewed any more, and
   * returns every gateway that is lost and not yet dropped, with the instant its lease ran out.
   */
  lostGateways(now: number): Promise<LostGateway[]>
  /** Everything about a lost gateway has been dealt with: forgets it and the interest that hung on it. */
  dropGateway(gatewayId: string): Promise<void>
  /** Gateways that somebody has a live session on, by the records, whatever the leases say. */
  attachedGateways(): Promise<string[]>
  /** Users that have a session on this gateway. */
  usersOf(gatewayId: string): Promise<string[]>

  /** Puts up what a process says of itself, for all to read until it runs out. */
  publishSummary(name: string, text: string, until: number): Promise<void>
  /** The notices that have not run out, by name. */
  summaries(now: number): Promise<Map<string, string>>

  /** People by shown status; `offline` counts only those still held hot. */
  countByStatus(): Promise<Record<Status, number>>
  close(): Promise<void>
}
