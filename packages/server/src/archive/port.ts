// Archive: what must outlive every process. Written on transitions, in batches, never per heartbeat.
// Every write keeps the newest, so batches may repeat and arrive out of order.
import type { Activity, Platform } from '@greendot/protocol'
import type { PrivacySetting } from '../presence/core/privacy.ts'
import type {
  AvailabilitySetting,
  AwayAfterSetting,
  CustomStatusSetting,
  ShownCustomStatus,
} from '../presence/core/record.ts'

/** A device of somebody who is here, enough to know it again after a restart. */
export interface HereDevice {
  deviceId: string
  platform: Platform
  activity: Activity
}

/** What others see of somebody who is not here; `here` marks those who were, should we crash. */
export interface LastSeenRow {
  userId: string
  lastSeenAt: number | null
  status: 'here' | 'offline'
  /** With what they were here when this was written. */
  devices: readonly HereDevice[]
  /** The version that was shown with it: the newest version wins. */
  version: number
  /** What was shown; differs from the setting while somebody is invisible. */
  shownCustomStatus: ShownCustomStatus | null
  updatedAt: number
}

/** What a person said about themselves, each part with its own newest-wins instant. */
export interface SettingsRow {
  userId: string
  availability: AvailabilitySetting | null
  customStatus: CustomStatusSetting | null
  awayAfter: AwayAfterSetting | null
  privacy: PrivacySetting | null
}

export interface ArchivedUser {
  lastSeen: LastSeenRow | null
  settings: SettingsRow | null
}

export interface ContactPair {
  ownerId: string
  contactId: string
}

export interface Archive {
  /**
   * Creates or upgrades the schema, and clears away what a crash has left half done. To be called at
   * every start; returns the migrations that were applied.
   */
  migrate(): Promise<string[]>
  /** The migrations that have not been applied. */
  pending(): Promise<string[]>
  /** In the order asked. */
  read(userIds: readonly string[]): Promise<ArchivedUser[]>
  /** Resolves when the rows will survive a crash of this process. */
  writeLastSeen(rows: readonly LastSeenRow[]): Promise<void>
  writeSettings(rows: readonly SettingsRow[]): Promise<void>

  /** One row says that the server was alive; nothing per user. */
  markAlive(now: number): Promise<void>
  aliveAt(): Promise<number | null>
  /** Who is marked as here, in the order of ids, after `afterId` ('' for the first). */
  hereIds(afterId: string, limit: number): Promise<string[]>

  /** The owner's contact list, in the order of the ids; the first `limit` of it, if there is one. */
  contactsOf(ownerId: string, limit?: number): Promise<string[]>
  /** The whole list as the text of a JSON array: the database writes it, so no id becomes a string here. */
  contactsJson(ownerId: string): Promise<string>
  /** Whether each contact is in the list of its owner, in the order asked. */
  areContacts(pairs: readonly ContactPair[]): Promise<boolean[]>
  /** Who has this person in their list, in the order of ids, after `afterId` ('' for the first). */
  ownersOf(contactId: string, afterId: string, limit: number): Promise<string[]>
  addContacts(ownerId: string, contactIds: readonly string[], now: number): Promise<void>
  removeContacts(ownerId: string, contactIds: readonly string[]): Promise<void>
  /** Whoever reads meanwhile sees the old list or the new one. */
  replaceContacts(ownerId: string, contactIds: readonly string[], now: number): Promise<void>

  /**
   * Who names this person in their privacy lists, in the order of ids, after `afterId` ('' for the
   * first). Looks through everybody who has chosen any privacy: for erasure, not for every day.
   */
  namedBy(userId: string, afterId: string, limit: number): Promise<string[]>
  /**
   * Forgets last seen, settings, and the contacts in both directions. Others may still name them in
   * their privacy (see `namedBy`), and what is written later stays. Repeating it does no harm.
   */
  erase(userId: string): Promise<void>
  /** The same for last seen and settings alone, which others may have been writing at that moment. */
  eraseRows(userId: string): Promise<void>

  /** Throws when the database cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}
