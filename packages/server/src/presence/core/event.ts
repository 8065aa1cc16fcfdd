// What can happen to a user. Gateways report session events; people and backends set things; the
// sweeper sends `tick`. The events of one session carry strictly increasing `at` (SPEC P2), and
// every report of a live session carries the whole session, so that a store which forgot it heals.
import type { Activity, Availability, Platform } from '@greendot/protocol'
import type { Privacy } from './privacy.ts'

export interface SessionFacts {
  sessionId: string
  deviceId: string
  platform: Platform
  gatewayId: string
  connectedAt: number
  lastActiveAt: number
  /** When its gateway had to start again: since when it has this id, and those it may be known by. */
  again?: { since: number; formerIds: readonly string[] }
}

export type PresenceEvent =
  | ({ type: 'connected' | 'active' | 'idle'; at: number; activity: Activity } & SessionFacts)
  | { type: 'left'; at: number; sessionId: string }
  /** A goodbye of a whole device, whichever gateways its sessions are on. */
  | { type: 'device_left'; at: number; deviceId: string }
  | { type: 'closed'; at: number; sessionId: string }
  | { type: 'lost'; at: number; sessionId: string; provenAt: number }
  /** A gateway's lease ran out at `at`; it was last heard of at `provenAt`. */
  | { type: 'gateway_lost'; at: number; gatewayId: string; provenAt: number }
  /** Somebody was shown `version`, and the store has since lost it: what is true now must go above it. */
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
  /** Merges into what the person chose before. */
  | { type: 'set_privacy'; at: number; change: Partial<Privacy> }
  /** Somebody else was erased, and is on nobody's lists any more. */
  | { type: 'unlist'; at: number; userId: string }
  /** The contact list, which is kept elsewhere, was edited. */
  | { type: 'contacts_changed'; at: number }
  | { type: 'tick' }
