// PresenceStore: the hot state. Every call is a batch; an adapter may split it by shard and needs at most
// one round trip per shard. `now` is always passed in. The store decides nothing: it compares revisions,
// keeps the indexes and returns the interested gateways.
import type { Status } from '@greendot/protocol'
import type { UserRecord } from '../presence/core/record.ts'

export interface Stored {
  record: UserRecord
  /** Grows with every commit of this user and is what compare-and-set compares. Zero means absent. */
  revision: number
}

/** Work that follows a commit: gateways are told of it, and its rows are written to the archive. */
export type Duty = 'announce' | 'archive'

export interface Commit {
  userId: string
  expectedRevision: number
  record: UserRecord
  /** The next instant at which the user changes without an event; null when there is none. */
  dueAt: number | null
  /** After this instant the store may forget the record, because the archive can rebuild it. Null: keep. */
  retainUntil: number | null
  /**
   * What this commit leaves to its process. The store remembers each duty until it is cleared, so that another
   * process does the work of one that died. Duties of earlier commits stay open.
   */
  owed?: Owed
  /** A record for the change log, as JSON. It is appended in the same atomic step, so no change is missing there. */
  logged?: string
}

export interface Owed {
  duties: readonly Duty[]
  /** When the user was committed. A store with a clock of its own goes by that instead. */
  since: number
}

/** A duty is known by the revision of the last commit that left it. */
export interface OpenDuty {
  userId: string
  revision: number
}

/** `since` is when the commit that left it was made. */
export interface FoundDuty extends OpenDuty {
  since: number
}

export type CommitResult =
  | {
      outcome: 'committed'
      revision: number
      interested: readonly string[]
      /**
       * The revision of an earlier commit whose duty to announce it is still open. This commit takes that duty over,
       * because there is one for each user: where another process had it, the whole state is announced.
       */
      unannounced?: number
    }
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
  /** The clock of the store, on which processes agree; null when it has none. */
  time(): Promise<number | null>
  readonly shardCount: number
  shardOf(userId: string): number
  /**
   * Looks whether a shard lost its memory since this process last looked; the process is told of those that did.
   * `isInUse`: other processes may be up, so this one is not the first that the store sees.
   */
  lookAtShards(now: number, isInUse?: boolean): Promise<void>
  /**
   * Until this instant the shard is settling: it lost its memory lately, so that it does not know a user proves
   * nothing. Every load looks for that before it returns null.
   */
  settlesAt(shard: number): number
  /** In the order of the ids; null for unknown users. */
  load(userIds: readonly string[]): Promise<(Stored | null)[]>
  /** In the order of the commits. A user appears at most once in a batch. */
  commit(commits: readonly Commit[]): Promise<CommitResult[]>
  /** Users of a shard whose deadline is at or before `now`, earliest first. Nothing is removed. */
  due(shard: number, now: number, limit: number): Promise<Due[]>
  /** Users of a shard with this duty since a commit at or before `until`, oldest first. */
  openDuties(duty: Duty, shard: number, until: number, limit: number): Promise<FoundDuty[]>
  /** The work is done. A duty of a later commit stays. */
  clearDuties(duty: Duty, done: readonly OpenDuty[]): Promise<void>
  /**
   * Forgets records past their `retainUntil`, at most `limit`; returns how many. A record with the
   * duty `archive` is kept, because nothing else knows what its row must say. A record with a deadline is kept while a
   * gateway is interested, because its watchers must be told.
   */
  forget(now: number, limit: number): Promise<number>

  addInterest(gatewayId: string, userIds: readonly string[]): Promise<void>
  removeInterest(gatewayId: string, userIds: readonly string[]): Promise<void>

  /** A gateway starts, under a name that was never used before. */
  openLease(gatewayId: string, until: number): Promise<void>
  /** False when there is no such lease: it expired and was taken, or the store lost it. */
  renewLease(gatewayId: string, until: number): Promise<boolean>
  /** The gateway gives up its lease and counts as lost since `at`. */
  retireGateway(gatewayId: string, at: number): Promise<void>
  /** Names with a lease at `now`. */
  liveLeases(now: number): Promise<string[]>
  /**
   * Takes the leases that expired at or before `now`, so that they cannot be renewed, and returns every
   * gateway that is lost and not yet dropped, with the instant its lease expired.
   */
  lostGateways(now: number): Promise<LostGateway[]>
  /** Called when the users of a lost gateway are handled: forgets the gateway and its interest. */
  dropGateway(gatewayId: string): Promise<void>
  /** Gateways with a live session according to the records, or with interest; with or without a lease. */
  attachedGateways(): Promise<string[]>
  /** Users that have a session on this gateway. */
  usersOf(gatewayId: string): Promise<string[]>

  /** Publishes a small text about one process, which all processes can read until it expires. */
  publishSummary(name: string, text: string, until: number): Promise<void>
  /** Published texts that have not expired, by process name. */
  summaries(now: number): Promise<Map<string, string>>

  /** Users by shown status; `offline` counts only users still in the store. */
  countByStatus(): Promise<Record<Status, number>>
  close(): Promise<void>
}
