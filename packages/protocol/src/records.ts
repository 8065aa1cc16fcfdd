// Records of the change log, of webhooks and of the Kafka relay: one JSON object on one line, keyed by user.
// They hold what is shown to others, so an invisible user is offline here. Readers ignore fields that they do not
// know; a record with another `v` is not for them.
import type { Activity, CustomStatus, Platform, Status } from './presence.ts'

/** Grows when a reader of older records could misread newer ones. */
export const RECORD_VERSION = 1

export interface StatusChangedRecord {
  type: 'status_changed'
  v: typeof RECORD_VERSION
  user_id: string
  old_status: Status
  new_status: Status
  /** The version that the change has for viewers. */
  version: number
  /** When it happened, in Unix milliseconds. */
  at: number
  devices: Platform[]
  custom_status: CustomStatus | null
  /** Only where other devices were live before. */
  old_devices?: Platform[]
  /** Only where another custom status was shown before. */
  old_custom_status?: CustomStatus | null
  /** Only where who may see the user has changed in the same step. */
  audience_changed?: true
  /** Only where the user allowed a history. */
  history?: true
}

/** Who may see a user has changed, and the user has not. It is in the change log alone, for webhooks of one viewer. */
export interface VisibilityChangedRecord {
  type: 'visibility_changed'
  v: typeof RECORD_VERSION
  user_id: string
  at: number
}

/** What happened to a session, as gateways say it. Other gateways than ours may write these too. */
export const SESSION_RECORD_TYPES = ['session_connected', 'session_disconnected', 'heartbeat'] as const
export type SessionRecordType = (typeof SESSION_RECORD_TYPES)[number]

export interface SessionRecord {
  type: SessionRecordType
  gateway_id: string
  user_id: string
  /** Left out only by Greendot, where all sessions of a user are over because the app disconnected the user. */
  device_id?: string
  platform?: Platform
  /** `active` where it is left out. */
  activity?: Activity
  /** When it happened, in Unix milliseconds. */
  at: number
}

/** The topics of Kafka, each with the user id as key. */
export const UPDATES_TOPIC = 'presence.updates'
export const CHANGES_TOPIC = 'presence.changes'
export const DEAD_TOPIC = 'presence.dead'
