// PresenceStore: the hot state. Every call is a batch; an adapter may split it by shard and needs
// at most one round trip per shard. `now` is always passed in. The store decides nothing: it
// compares revisions, keeps the indexes and says which gateways are interested.
import type { Status } from '@greendot/protocol'
import type { UserRecord } from '../presence/record.ts'

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

export interface PresenceStore {
  /** When this store's memory began. A store that lost everything begins again. */
  readonly bornAt: () => Promise<number>
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

  renewLease(gatewayId: string, until: number): Promise<void>
  /** Gateways whose lease ran out at or before `now`. */
  expiredLeases(now: number): Promise<string[]>
  /** Ends a lease and the interest that hung on it. */
  dropGateway(gatewayId: string): Promise<void>
  /** Users that have a session on this gateway. */
  usersOf(gatewayId: string): Promise<string[]>

  /** People by shown status; `offline` counts only those still held hot. */
  countByStatus(): Promise<Record<Status, number>>
  close(): Promise<void>
}
