// What can happen to a user. Gateways report session events; people and backends set things; the
// sweeper sends `tick`. The events of one session carry strictly increasing `at` (SPEC P2), and
// every report of a live session carries the whole session, so that a store which forgot it heals.
import type { Activity, Availability, Platform } from '@greendot/protocol'

export interface SessionFacts {
  sessionId: string
  deviceId: string
  platform: Platform
  gatewayId: string
  connectedAt: number
  lastActiveAt: number
}

export type PresenceEvent =
  | ({ type: 'connected' | 'active' | 'idle'; at: number; activity: Activity } & SessionFacts)
  | { type: 'left'; at: number; sessionId: string }
  | { type: 'closed'; at: number; sessionId: string }
  | { type: 'lost'; at: number; sessionId: string; provenAt: number }
  | { type: 'set_availability'; at: number; status: Availability; expiresAt: number | null }
  | {
      type: 'set_custom_status'
      at: number
      text: string | null
      emoji: string | null
      expiresAt: number | null
    }
  | { type: 'set_away_after'; at: number; awayAfterMs: number | null }
  | { type: 'tick' }
