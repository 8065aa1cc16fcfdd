// Archive: what must outlive every process. Written on transitions, in batches, never per heartbeat.
// Every write keeps the newest, so batches may repeat and arrive out of order.
import type { Activity, Platform } from '@greendot/protocol'
import type {
  AvailabilitySetting,
  AwayAfterSetting,
  CustomStatusSetting,
  ShownCustomStatus,
} from '../presence/record.ts'

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
}

export interface ArchivedUser {
  lastSeen: LastSeenRow | null
  settings: SettingsRow | null
}

export interface Archive {
  /** Creates or upgrades the schema; returns the migrations that were applied. */
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

  /** The owner's contact list, in the order of the ids. */
  contactsOf(ownerId: string): Promise<string[]>
  addContacts(ownerId: string, contactIds: readonly string[], now: number): Promise<void>
  removeContacts(ownerId: string, contactIds: readonly string[]): Promise<void>
  replaceContacts(ownerId: string, contactIds: readonly string[], now: number): Promise<void>

  /** Throws when the database cannot be reached. */
  ping(): Promise<void>
  close(): Promise<void>
}
