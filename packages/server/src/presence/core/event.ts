// What can happen to a user. Gateways report session events; users and backends change settings; the
// sweeper sends `tick`. The events of one session carry strictly increasing `at` (SPEC P2), and
// every report of a live session carries the whole session, so that a store which forgot it heals.
import type { Activity, Availability, Platform } from '@greendot/protocol'
import type { Privacy } from './privacy.ts'
import type { UserRecord } from './record.ts'

export interface SessionFacts {
  sessionId: string
  deviceId: string
  platform: Platform
  gatewayId: string
  connectedAt: number
  lastActiveAt: number
  /** Set when its gateway started again under a new name: since when, and the former ids of the session. */
  again?: { since: number; formerIds: readonly string[] }
}

/** Which session ended. The device is for those who read the log; the record knows it by the session. */
export interface EndedSession {
  sessionId: string
  deviceId?: string
  platform?: Platform
}

export type PresenceEvent =
  | ({ type: 'connected' | 'active' | 'idle'; at: number; activity: Activity } & SessionFacts)
  | ({ type: 'left'; at: number } & EndedSession)
  /** A goodbye of a device: of all its sessions, on any gateway. */
  | { type: 'device_left'; at: number; deviceId: string }
  /** The app disconnected the user: all sessions are over, on any gateway. */
  | { type: 'user_left'; at: number }
  | ({ type: 'closed'; at: number } & EndedSession)
  | ({ type: 'lost'; at: number; provenAt: number } & EndedSession)
  /** A gateway's lease ran out at `at`; its last sign of life was at `provenAt`. */
  | { type: 'gateway_lost'; at: number; gatewayId: string; provenAt: number }
  /** A viewer was shown `version`, and the store has lost it: the present state needs a higher one. */
  | { type: 'raise_version'; version: number }
  | { type: 'set_availability'; at: number; status: Availability; expiresAt: number | null }
  | {
      type: 'set_custom_status'
      at: number
      text: string | null
      emoji: string | null
      expiresAt: number | null
    }
  | { type: 'set_away_after'; at: number; awayAfterMs: number | null }
  /** Whether a history may be kept. It changes nothing that others see. */
  | { type: 'set_history'; at: number; isKept: boolean }
  /** Merges into the earlier privacy settings. */
  | { type: 'set_privacy'; at: number; change: Partial<Privacy> }
  /** Another user was erased: removes that user from the allow and deny lists. */
  | { type: 'unlist'; at: number; userId: string }
  /** The store may have lost what the user chose: the archive is asked. */
  | { type: 'doubted' }
  /** What the archive holds of the user. It was asked because the store may not have the newest choices. */
  | { type: 'settings_found'; archived: UserRecord }
  /** The contact list, which is in the archive, was edited. */
  | { type: 'contacts_changed'; at: number }
  | { type: 'tick' }

/** What a user chose. */
export type ChoiceEvent = Extract<
  PresenceEvent,
  {
    type:
      | 'set_availability'
      | 'set_custom_status'
      | 'set_away_after'
      | 'set_history'
      | 'set_privacy'
      | 'unlist'
  }
>
