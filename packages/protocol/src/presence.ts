// The presence object. A larger version of a user is newer; two objects with the same version differ at most in
// how much the viewer may see.

export const STATUSES = ['online', 'away', 'busy', 'offline'] as const
export type Status = (typeof STATUSES)[number]

export const PLATFORMS = ['web', 'desktop', 'mobile', 'tablet', 'console', 'bot', 'other'] as const
export type Platform = (typeof PLATFORMS)[number]

export const ACTIVITIES = ['active', 'idle'] as const
export type Activity = (typeof ACTIVITIES)[number]

/** Availability set by the user; `auto` and `online` both return to automatic. */
export const AVAILABILITY_CHOICES = ['auto', 'online', 'away', 'busy', 'invisible'] as const
export type AvailabilityChoice = (typeof AVAILABILITY_CHOICES)[number]
/** As the own view says it. */
export type Availability = Exclude<AvailabilityChoice, 'online'>

/** Viewers who may see a user. `contacts`: viewers in the contact list of that user. */
export const AUDIENCES = ['everyone', 'contacts', 'nobody'] as const
export type Audience = (typeof AUDIENCES)[number]

export const LAST_SEEN_PRECISIONS = ['exact', 'approximate'] as const
export type LastSeenPrecision = (typeof LAST_SEEN_PRECISIONS)[number]

/** Approximate last seen, counted in whole days: up to 3, up to 7, up to 30, longer. */
export const LAST_SEEN_BUCKETS = ['recently', 'this_week', 'this_month', 'long_ago'] as const
export type LastSeenBucket = (typeof LAST_SEEN_BUCKETS)[number]

export interface CustomStatus {
  text: string | null
  emoji: string | null
  expires_at: number | null
}

export interface Presence {
  user_id: string
  /** Null only for hidden users of a server with `hidden_as: null`. */
  status: Status | null
  last_seen: number | null
  /** Only for users who show an approximate last seen; `last_seen` is null then. */
  last_seen_bucket?: LastSeenBucket | null
  custom_status: CustomStatus | null
  devices: Platform[]
  version: number
  /** Only in the answer to a watch of a target with too many watchers: no changes follow, query again. */
  pushed?: false
}

/** Where the answer comes from: `live` for users with sessions, `db` for all others. */
export type Source = 'live' | 'db'
export type QueriedPresence = Presence & { source: Source }

export interface OwnSession {
  session_id: string
  device_id: string
  platform: Platform
  activity: Activity
  connected_at: number
}

/** Settings of a user, with the server's defaults filled in. */
export interface Settings {
  status_visibility: Audience
  last_seen_visibility: Audience
  reciprocal: boolean
  last_seen_precision: LastSeenPrecision
  allow: string[]
  deny: string[]
  away_after_ms: number
  /** Whether a history may be kept, on a server that keeps one. */
  history: boolean
}

export interface OwnPresence extends Presence {
  availability: Availability
  availability_expires_at: number | null
  sessions: OwnSession[]
}
