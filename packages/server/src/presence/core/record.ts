// The hot record of one user: everything the machine needs, as a plain value. Records are never mutated; the
// machine returns a new one. What others may see of the user is `shown`, which is frozen between visible
// changes: one version, one object.
import type { Activity, Availability, Platform, Status } from '@greendot/protocol'
import type { PrivacySetting } from './privacy.ts'
import { NO_VERSION } from './version.ts'

/** Whether and how a session ended; each cause has its own delay. */
export type SessionEnd =
  | { state: 'live' }
  /** The socket closed without a goodbye at `since`. */
  | { state: 'closed'; since: number }
  /** Silence: the last proof of life was at `provenAt`, and the time to live ran out at `since`. */
  | { state: 'lost'; since: number; provenAt: number }

/**
 * Stands for the gateways from before the hot store lost its memory. Sessions on it are presumed from the archive, until a
 * gateway says how the device is, or until they are lost.
 */
export const PRESUMED_GATEWAY = 'before-restart'

export interface Session {
  id: string
  deviceId: string
  platform: Platform
  /** The gateway that holds the connection and answers for it with its lease. */
  gatewayId: string
  activity: Activity
  connectedAt: number
  lastActiveAt: number
  /** The newest event of this session that was applied; older ones change nothing. */
  eventAt: number
  end: SessionEnd
}

/** A session that is gone for good. It is remembered for a while so that replays change nothing. */
export interface Tombstone {
  id: string
  endedAt: number
}

export interface AvailabilitySetting {
  status: Availability
  expiresAt: number | null
  /** When it was chosen; the newest wins. */
  setAt: number
}

export interface CustomStatusSetting {
  text: string | null
  emoji: string | null
  expiresAt: number | null
  setAt: number
}

/** The custom status as it is shown: a setting that has text or emoji and has not expired. */
export interface ShownCustomStatus {
  text: string | null
  emoji: string | null
  expiresAt: number | null
}

/** What viewers see that may see everything. */
export interface Shown {
  status: Status
  since: number
  lastSeen: number | null
  customStatus: ShownCustomStatus | null
  devices: readonly Platform[]
}

/** After how much inactivity the user is away, where the user chose it. */
export interface AwayAfterSetting {
  awayAfterMs: number | null
  setAt: number
}

/** Whether a history of the user may be kept, where the user said so. */
export interface HistorySetting {
  isKept: boolean
  /** When it last changed: nothing older is kept. */
  setAt: number
}

/**
 * Whether the user is present, after the delays and before manual settings. `arriving` waits for the online
 * delay and is not shown yet.
 */
export type Here = { state: 'absent' } | { state: 'arriving'; showAt: number } | { state: 'here' }

/**
 * Whether the choices in a record are the user's. `unknown`: the archive could not be asked when the record was made,
 * so the user may have chosen to be invisible or hidden. Such a user is not shown to others until it has answered.
 */
export type SettingsState = 'known' | 'unknown'

export interface UserRecord {
  settings: SettingsState
  sessions: readonly Session[]
  tombstones: readonly Tombstone[]
  /** Sessions that started at or before this instant and are not in the record are history. */
  forgottenAt: number
  availability: AvailabilitySetting | null
  customStatus: CustomStatusSetting | null
  awayAfter: AwayAfterSetting | null
  privacy: PrivacySetting | null
  history: HistorySetting | null
  /** When the contact list was last edited, as far as the hot store remembers. */
  contactsAt: number
  here: Here
  shown: Shown
  /** The last proof that the user was present, also while the user is invisible. */
  lastSeen: number | null
  version: number
  /** Deadlines at or before this instant have had their effect. */
  settledAt: number
}

const NOTHING_SHOWN: Shown = { status: 'offline', since: 0, lastSeen: null, customStatus: null, devices: [] }
const ABSENT: Here = { state: 'absent' }
const NONE: readonly never[] = []

/** An unknown user. Without a version, the first visible change gives one. */
export function emptyRecord(version = NO_VERSION): UserRecord {
  return {
    settings: 'known',
    sessions: NONE,
    tombstones: NONE,
    forgottenAt: 0,
    availability: null,
    customStatus: null,
    awayAfter: null,
    privacy: null,
    history: null,
    contactsAt: 0,
    here: ABSENT,
    shown: NOTHING_SHOWN,
    lastSeen: null,
    version,
    settledAt: 0,
  }
}

/** Whether nothing is in it, as an erasure leaves it for a while: such a user is unknown. */
export function isBare(record: UserRecord): boolean {
  const { settings, sessions, lastSeen, shown } = record
  if (settings === 'unknown' || sessions.length > 0 || lastSeen !== null) return false
  return shown.customStatus === null && !hasAnySetting(record)
}

export function hasAnySetting(record: UserRecord): boolean {
  const { availability, customStatus, awayAfter, privacy, history } = record
  return [availability, customStatus, awayAfter, privacy, history].some((setting) => setting !== null)
}
