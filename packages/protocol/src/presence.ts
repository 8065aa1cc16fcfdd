// The presence object as everybody reads it. `version` identifies the whole object: two objects
// of one user with the same version are equal, and a larger version is newer.

export const STATUSES = ['online', 'away', 'busy', 'offline'] as const
export type Status = (typeof STATUSES)[number]

export const PLATFORMS = ['web', 'desktop', 'mobile', 'tablet', 'console', 'bot', 'other'] as const
export type Platform = (typeof PLATFORMS)[number]

export const ACTIVITIES = ['active', 'idle'] as const
export type Activity = (typeof ACTIVITIES)[number]

/** What a person may choose by hand; `online` returns to automatic. */
export const AVAILABILITY_CHOICES = ['online', 'away', 'busy', 'invisible'] as const
export type AvailabilityChoice = (typeof AVAILABILITY_CHOICES)[number]
export type Availability = 'auto' | Exclude<AvailabilityChoice, 'online'>

export interface CustomStatus {
  text: string | null
  emoji: string | null
  expires_at: number | null
}

export interface Presence {
  user_id: string
  /** Null only where the server hides people as `null` instead of `offline`. */
  status: Status | null
  last_seen: number | null
  custom_status: CustomStatus | null
  devices: Platform[]
  version: number
}

/** Where an answer came from: `live` for people who are here, `db` for everybody else. */
export type Source = 'live' | 'db'
export type QueriedPresence = Presence & { source: Source }

export interface OwnSession {
  session_id: string
  device_id: string
  platform: Platform
  activity: Activity
  connected_at: number
}

export interface OwnPresence extends Presence {
  availability: Availability
  availability_expires_at: number | null
  sessions: OwnSession[]
}
