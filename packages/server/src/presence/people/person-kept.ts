// The record of a user as an export shows it: every setting with the instant it was chosen, every session
// until it is forgotten, and what others are shown, which differs from the own view while the user is
// invisible. A setting that was never chosen is null, and so is a part of it that was left to the default.
import type {
  Activity,
  Audience,
  Availability,
  LastSeenPrecision,
  Platform,
  Presence,
} from '@greendot/protocol'
import type { PrivacySetting } from '../core/privacy.ts'
import type { Session, SessionEnd, UserRecord } from '../core/record.ts'
import { toPresence } from '../core/view.ts'

export interface KeptSession {
  session_id: string
  device_id: string
  platform: Platform
  gateway_id: string
  activity: Activity
  connected_at: number
  last_active_at: number
  state: SessionEnd['state']
  /** Null while the session is live. */
  ended_at: number | null
}

export interface KeptPrivacy {
  status_visibility: Audience | null
  last_seen_visibility: Audience | null
  reciprocal: boolean
  last_seen_precision: LastSeenPrecision
  allow: string[]
  deny: string[]
  set_at: number
}

export interface Kept {
  shown: Presence
  /** Null for a user who was never shown. */
  shown_since: number | null
  last_seen: number | null
  /** Including sessions that ended without a goodbye and still count. */
  sessions: KeptSession[]
  /** Ended sessions of which only the id is kept, so that late events of them change nothing. */
  ended_sessions: { session_id: string; ended_at: number }[]
  availability: { status: Availability; expires_at: number | null; set_at: number } | null
  custom_status: {
    text: string | null
    emoji: string | null
    expires_at: number | null
    set_at: number
  } | null
  away_after: { away_after_ms: number | null; set_at: number } | null
  privacy: KeptPrivacy | null
  history: { kept: boolean; set_at: number } | null
}

export function keptOf(userId: string, record: UserRecord): Kept {
  const { availability, customStatus, awayAfter, privacy, history, shown } = record
  return {
    shown: toPresence(userId, record),
    shown_since: shown.since === 0 ? null : shown.since,
    last_seen: record.lastSeen,
    sessions: record.sessions.map(toSession),
    ended_sessions: record.tombstones.map(({ id, endedAt }) => ({ session_id: id, ended_at: endedAt })),
    availability: availability && {
      status: availability.status,
      expires_at: availability.expiresAt,
      set_at: availability.setAt,
    },
    custom_status: customStatus && {
      text: customStatus.text,
      emoji: customStatus.emoji,
      expires_at: customStatus.expiresAt,
      set_at: customStatus.setAt,
    },
    away_after: awayAfter && { away_after_ms: awayAfter.awayAfterMs, set_at: awayAfter.setAt },
    privacy: privacy && toPrivacy(privacy),
    history: history && { kept: history.isKept, set_at: history.setAt },
  }
}

const toSession = (session: Session): KeptSession => ({
  session_id: session.id,
  device_id: session.deviceId,
  platform: session.platform,
  gateway_id: session.gatewayId,
  activity: session.activity,
  connected_at: session.connectedAt,
  last_active_at: session.lastActiveAt,
  state: session.end.state,
  ended_at: session.end.state === 'live' ? null : session.end.since,
})

const toPrivacy = (privacy: PrivacySetting): KeptPrivacy => ({
  status_visibility: privacy.statusVisibility,
  last_seen_visibility: privacy.lastSeenVisibility,
  reciprocal: privacy.reciprocal,
  last_seen_precision: privacy.lastSeenPrecision,
  allow: [...privacy.allow],
  deny: [...privacy.deny],
  set_at: privacy.setAt,
})
