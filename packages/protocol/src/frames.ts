// Types of WebSocket frames. The two heartbeat frames are also constants, so that both ends can send and
// recognise them without a JSON parser.
import type { ErrorCode } from './errors.ts'
import type { Activity, AvailabilityChoice, OwnPresence, Presence } from './presence.ts'

export type Ref = string | number

export const HEARTBEAT_ACTIVE = '{"type":"heartbeat","activity":"active"}'
export const HEARTBEAT_IDLE = '{"type":"heartbeat","activity":"idle"}'

/** An instant in a request: integer Unix milliseconds or an ISO 8601 string. */
export type InstantInput = number | string

export type ClientFrame = { ref?: Ref } & (
  | { type: 'heartbeat'; activity: Activity }
  | { type: 'watch'; user_ids: string[]; known?: Record<string, number> }
  | { type: 'watch_contacts' }
  | { type: 'unwatch'; user_ids: string[] }
  | { type: 'set_availability' | 'set_status'; status: AvailabilityChoice; expires_at?: InstantInput | null }
  | {
      type: 'set_custom_status'
      text?: string | null
      emoji?: string | null
      expires_at?: InstantInput | null
    }
  | { type: 'leave' }
)

export interface WelcomeFrame {
  type: 'welcome'
  session_id: string
  user_id: string
  device_id: string
  server_time: number
  heartbeat_interval_ms: number
  heartbeat_ttl_ms: number
  away_after_ms: number
  self: OwnPresence
}

export type ServerFrame =
  | WelcomeFrame
  | { type: 'presence_state'; states: Presence[] }
  | { type: 'presence_change'; changes: Presence[] }
  /** These users left the contact list that the connection follows; before their change to version 0. */
  | { type: 'contacts_removed'; user_ids: string[] }
  | { type: 'self'; presence: OwnPresence }
  | { type: 'drain'; reconnect_after_ms: number }
  | { type: 'ok'; ref: Ref }
  | { type: 'error'; code: ErrorCode; message: string; ref?: Ref }
