// Archive: what must outlive every process. Written on transitions, in batches, never per heartbeat.
// Every write keeps the newest, so batches may repeat and arrive out of order.
import type { Activity, CustomStatus, Platform, Status, WebhookEventType } from '@greendot/protocol'
import type { HistoryChange, HistoryHour, KeptInterval } from '../presence/core/history.ts'
import type { PrivacySetting } from '../presence/core/privacy.ts'
import type {
  AvailabilitySetting,
  AwayAfterSetting,
  CustomStatusSetting,
  HistorySetting,
  ShownCustomStatus,
} from '../presence/core/record.ts'

/** A device of a connected user, with what is needed to recognise it after a restart. */
export interface HereDevice {
  deviceId: string
  platform: Platform
  activity: Activity
}

/** What others see of an offline user. `here` marks a connected user, whom a restart after a crash looks for. */
export interface LastSeenRow {
  userId: string
  lastSeenAt: number | null
  status: 'here' | 'offline'
  /** The devices that were live when the row was written. */
  devices: readonly HereDevice[]
  /** The version that was shown with it: the newest version wins. */
  version: number
  /** What was shown. It differs from the setting while the user is invisible. */
  shownCustomStatus: ShownCustomStatus | null
  updatedAt: number
}

/** What a user has set. Each part carries its own instant, and the newest of each part wins. */
export interface SettingsRow {
  userId: string
  availability: AvailabilitySetting | null
  customStatus: CustomStatusSetting | null
  awayAfter: AwayAfterSetting | null
  privacy: PrivacySetting | null
  history: HistorySetting | null
}

export interface ArchivedUser {
  lastSeen: LastSeenRow | null
  settings: SettingsRow | null
}

export interface ContactPair {
  ownerId: string
  contactId: string
}

/** A part of a user's history. */
export interface HistorySpan {
  /** Intervals that end later, or last. */
  fromAt: number
  /** Intervals that begin earlier. */
  toAt: number
  /** The last interval of the page before; null for the first page. */
  after: Pick<KeptInterval, 'fromAt' | 'version'> | null
  limit: number
}

/** When users were present, of those who keep a history. */
export interface HistoryArchive {
  /**
   * Changes of one user in the order of their versions. Without effect are changes that were written before, that are
   * dated before `keptFromAt` or before the user began to keep a history, and changes of users who keep none.
   */
  write(changes: readonly HistoryChange[], keptFromAt: number): Promise<void>
  /** Since when the user keeps a history; null if the user keeps none. */
  keepsSince(userId: string): Promise<number | null>
  /** Oldest first, beginning with the last interval that begins at or before `fromAt`. */
  read(userId: string, span: HistorySpan): Promise<KeptInterval[]>
  /** The hours of all users that begin from `fromAt` (a full hour) to before `toAt`; those without presence are left out. */
  hours(fromAt: number, toAt: number, now: number): Promise<HistoryHour[]>
  /** Deletes what the user's present choice does not cover, and takes it out of the hours. */
  forget(userId: string): Promise<void>
  /** Users for whom `forget` has something to do, page by page: `lastId` is null with the last page. */
  refusing(afterId: string): Promise<{ userIds: string[]; lastId: string | null }>
  /**
   * Departures that the history did not hear of: the last-seen row, written before this instant, says offline. One page,
   * ordered by user, after `afterId`.
   */
  unended(writtenBefore: number, afterId: string): Promise<HistoryChange[]>
  /** Deletes intervals that ended at or before this instant, and the hours before it. */
  trim(before: number): Promise<void>
  /** Remembers for how many days the history is kept. */
  keepDays(days: number): Promise<void>
  /** What was remembered last; null where there is no history. */
  keptDays(): Promise<number | null>
}

/** The app disconnected a user. */
export interface DisconnectRow {
  userId: string
  /** Null for all devices. */
  deviceId: string | null
  at: number
  /** Until then tokens that were issued before are refused. Null if they are not. */
  until: number | null
  reason: string | null
}

/** What is kept of all disconnects of the same. */
export interface KeptDisconnect extends DisconnectRow {
  /** The last one with `until`; tokens that were issued before are refused. Null where there was none. */
  issuedBefore: number | null
}

export interface DisconnectArchive {
  /**
   * Resolves when it is durable. Of two disconnects of the same, the later instants win. One without `until` changes
   * nothing of which tokens are refused.
   */
  write(row: DisconnectRow): Promise<void>
  /**
   * Those that happened since an instant, and those that refuse tokens at `inForceAt` where it is given, in a fixed order
   * after `after`.
   */
  page(wanted: {
    since: number
    inForceAt: number | null
    after: Pick<DisconnectRow, 'userId' | 'deviceId'> | null
    limit: number
  }): Promise<KeptDisconnect[]>
  /** All of one user. */
  of(userId: string): Promise<KeptDisconnect[]>
  /** Deletes those from before an instant that are not in force at `now`. */
  trim(before: number, now: number): Promise<void>
}

export interface WebhookFilter {
  /** Only events of these users. Null for all. */
  userIds: readonly string[] | null
  /** Only events of users on the contact list of this user. */
  contactsOf: string | null
  /** Only events with one of these devices live, before or after; of device events, only those of them. */
  platforms: readonly Platform[] | null
  /** Events as this user sees them. Null for what the backend of the app may know. */
  viewerId: string | null
}

export interface WebhookSecret {
  secret: string
  /** Until then requests are signed with it too; null for the present one. */
  until: number | null
}

export type WebhookState =
  | { state: 'enabled'; since: number }
  | { state: 'disabled'; at: number; because: string }

/** One endpoint that is told of changes. */
export interface Webhook {
  id: string
  url: string
  events: readonly WebhookEventType[]
  filter: WebhookFilter
  /** The present one first. */
  secrets: readonly WebhookSecret[]
  state: WebhookState
  createdAt: number
  /** Grows with every edit. */
  updatedAt: number
}

/** How the deliveries of a webhook go. */
export interface WebhookHealth {
  /** Requests that failed since the last one that did not. */
  failuresInRow: number
  /** Since when all of them failed; null when the last one did not. */
  failingSince: number | null
  lastFailure: string | null
  deliveredAt: number | null
  /** Changes that are still to be delivered. */
  pending: number
  /** Changes that were given up. */
  failed: number
}

/** The events of one change of a user, for one webhook. */
export interface WebhookDelivery {
  webhookId: string
  userId: string
  /** Orders the changes of a user. The same change again has the same number. */
  order: number
  /** Events as JSON, separated by commas. */
  events: string
  createdAt: number
}

/** What a viewer was told last of a user. */
export interface ToldView {
  webhookId: string
  userId: string
  /** The number of the delivery that told it. */
  order: number
  status: Status | null
  version: number
  devices: readonly Platform[]
  customStatus: CustomStatus | null
}

/** Deliveries that are sent in one request, each time with the same id and the same content. */
export interface WebhookBatch {
  id: string
  /** Requests with this batch that failed. */
  attempts: number
  deliveries: readonly WebhookDelivery[]
}

/** A delivery that was given up. */
export interface FailedDelivery extends WebhookDelivery {
  attempts: number
  failedAt: number
  because: string
}

export interface WebhookArchive {
  /** The same text while no webhook was added, edited or deleted. */
  edition(): Promise<string>
  /** Ordered by creation. */
  list(): Promise<Webhook[]>
  /** Returns false, and adds nothing, when there are `max` webhooks. */
  add(webhook: Webhook, max: number): Promise<boolean>
  /**
   * Replaces a webhook if it has not been edited since; false otherwise. What its viewer was told is forgotten where the
   * filter has another viewer or chooses users in another way.
   */
  edit(webhook: Webhook, editedAt: number): Promise<boolean>
  /** With all its deliveries. Returns false if there is none. */
  remove(id: string): Promise<boolean>
  health(id: string): Promise<WebhookHealth>

  /**
   * Keeps deliveries until they are sent, and what viewers were told, in one step. A delivery that is kept already is
   * left as it is; deliveries of webhooks that are gone or disabled, and of users who are being erased, are passed over.
   * Returns false, and keeps nothing, when another process told one of these viewers meanwhile, or when the webhook was
   * edited after `editedAt`.
   */
  keep(deliveries: readonly WebhookDelivery[], told: readonly ToldView[], editedAt?: number): Promise<boolean>
  told(webhookId: string, userIds: readonly string[]): Promise<ToldView[]>
  /** Users of whom this webhook was told, ordered by id, after `afterId`. */
  toldUsers(webhookId: string, afterId: string, limit: number): Promise<string[]>

  /**
   * Claims the webhooks that have something to send, for one process and until `until`: other processes get them when
   * they are released or when that instant has passed.
   */
  claim(process: string, now: number, until: number): Promise<ClaimedWebhook[]>
  /** False if the claim was lost. */
  renew(process: string, id: string, until: number): Promise<boolean>
  release(process: string, id: string): Promise<void>
  /**
   * The next batch, under a claim: one that failed and is due, or deliveries of the users that wait longest and have
   * nothing in a failed batch, which become a batch with this id. Those of a user are in order, and none is left out
   * before one that is in the batch. Null when there is none.
   */
  nextBatch(id: string, batchId: string, now: number, max: number): Promise<WebhookBatch | null>
  delivered(id: string, batchId: string, now: number): Promise<void>
  /** The batch is tried again at `dueAt`, or given up where that is null; no batch is tried before `retryAt`. */
  failed(id: string, batchId: string, failure: BatchFailure): Promise<WebhookHealth>
  /** Gives up everything that waits. */
  giveUp(id: string, now: number, because: string): Promise<void>
  /** Oldest first, after this one. */
  failures(id: string, after: FailureCursor | null, limit: number): Promise<FailedDelivery[]>
  /** Everything that was given up until `before` waits again. Returns how many. */
  replay(id: string, before: number): Promise<number>
  /** Deletes failures of before this instant. */
  trim(before: number): Promise<void>
}

export interface ClaimedWebhook {
  id: string
  failuresInRow: number
}

export interface BatchFailure {
  at: number
  because: string
  dueAt: number | null
  retryAt: number
}

export type FailureCursor = Pick<FailedDelivery, 'failedAt' | 'userId' | 'order'>

export interface Archive {
  /**
   * Creates or upgrades the schema, and cleans up what a crash left half done. Called at every start.
   * Returns the migrations that were applied.
   */
  migrate(): Promise<string[]>
  /** The migrations that have not been applied. */
  pending(): Promise<string[]>
  /** In the order asked. */
  read(userIds: readonly string[]): Promise<ArchivedUser[]>
  /**
   * Resolves when the rows will survive a crash of this process, with how many were written: a row that is not newer than
   * the one of its user is not.
   */
  writeLastSeen(rows: readonly LastSeenRow[]): Promise<number>
  writeSettings(rows: readonly SettingsRow[]): Promise<void>

  /** One row for the whole server records that it was alive. */
  markAlive(now: number): Promise<void>
  aliveAt(): Promise<number | null>
  /** Users marked as here, ordered by id, after `afterId` ('' for the first). */
  hereIds(afterId: string, limit: number): Promise<string[]>

  /** The owner's contact list, ordered by id; its first `limit` entries if a limit is given. */
  contactsOf(ownerId: string, limit?: number): Promise<string[]>
  /** The whole list as the text of a JSON array. The database writes it, so no id becomes a string in this process. */
  contactsJson(ownerId: string): Promise<string>
  /** Whether each contact is in the list of its owner, in the order asked. */
  areContacts(pairs: readonly ContactPair[]): Promise<boolean[]>
  /** Users that have this user in their list, ordered by id, after `afterId` ('' for the first). */
  ownersOf(contactId: string, afterId: string, limit: number): Promise<string[]>
  addContacts(ownerId: string, contactIds: readonly string[], now: number): Promise<void>
  removeContacts(ownerId: string, contactIds: readonly string[]): Promise<void>
  /** A concurrent reader sees the old list or the new one, never a mix. */
  replaceContacts(ownerId: string, contactIds: readonly string[], now: number): Promise<void>

  readonly history: HistoryArchive
  readonly disconnects: DisconnectArchive
  readonly webhooks: WebhookArchive

  /**
   * Users that name this user in their privacy lists, ordered by id, after `afterId` ('' for the
   * first). Scans every user with privacy settings, so only erasure uses it.
   */
  namedBy(userId: string, afterId: string, limit: number): Promise<string[]>
  /**
   * Resolves when it is durable that the erasure of this user has begun. From then until `endErasure` every
   * read answers as for an unknown user: rows, users that are here, and contact lists from both sides. The
   * entries in the lists of other users stay in these lists. Repeated, it begins again at the later instant.
   */
  beginErasure(userId: string, at: number): Promise<void>
  /** Begins an unfinished erasure again at this instant. Returns false if it has ended. */
  resumeErasure(userId: string, at: number): Promise<boolean>
  /** Users whose erasure began before this instant and has not ended, the oldest first. */
  unfinishedErasures(begunBefore: number, limit: number): Promise<string[]>
  /** The same as `ownersOf`, for a user whose erasure has not ended. */
  ownersOfErased(userId: string, afterId: string, limit: number): Promise<string[]>
  /** Ends the erasure that began at this instant. One that was begun again later goes on. */
  endErasure(userId: string, begunAt: number): Promise<void>
  /**
   * Deletes last seen, settings, disconnects, history, deliveries to webhooks, and contacts in both directions. Privacy
   * lists of other users may still name the user (see `namedBy`), and later writes stay. Idempotent.
   */
  erase(userId: string): Promise<void>
  /** The same without contacts: deletes rows that another process may have written during `erase`. */
  eraseRows(userId: string): Promise<void>

  /** Throws when the database cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}
