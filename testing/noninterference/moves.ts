// What a history is made of: plain values, so that a counterexample can be read and shrunk. A step is
// a few moves in one turn of the loop and the time that passes after them.
import type { Activity, ClientFrame, Encoding, Platform } from '@greendot/protocol'
import type { SettingsInput } from '../clients/server.ts'

/**
 * `hidden` hides, `viewer` may not see them, `friend` may, `other` is open to all and watched by the
 * viewer as well, `mutual` is reciprocal.
 */
export const USERS = ['hidden', 'viewer', 'friend', 'other', 'mutual'] as const
export type Name = (typeof USERS)[number]

/** Versions a client claims to know: none, those it was shown, or one it makes up for every user. */
export type Known = 'none' | 'shown' | number

/** Frames and bodies say `expires_in_ms` where the wire has `expires_at`: histories know no instants. */
export type Said = Readonly<Record<string, unknown>>
export type Frame = Said & { type: ClientFrame['type'] }

export type Move =
  | {
      does: 'open'
      who: Name
      device: string
      platform: Platform
      activity: Activity | null
      isBeating: boolean
      encoding: Encoding
    }
  | { does: 'say'; who: Name; device: string; frame: Frame }
  | { does: 'watch'; who: Name; device: string; userIds: readonly string[]; known: Known }
  /** Without a goodbye. */
  | { does: 'hang up'; who: Name; device: string }
  /** Its socket takes no more for a while. */
  | { does: 'stall'; who: Name; device: string }
  | { does: 'catch up'; who: Name; device: string }
  | { does: 'stream'; who: Name; userIds: readonly string[]; isResumed: boolean }
  | { does: 'end stream'; who: Name }
  | {
      does: 'call'
      /** The user whose doing it is: a backend that acts for a user does what they would. Null for its own. */
      who: Name | null
      as: 'self' | 'backend' | 'anyone'
      method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
      path: string
      body?: Said
    }
  | {
      does: 'call by gRPC'
      who: Name | null
      as: 'self' | 'backend'
      method:
        | 'GetPresence'
        | 'RecordHeartbeat'
        | 'RecordHeartbeats'
        | 'Leave'
        | 'SetAvailability'
        | 'SetCustomStatus'
      message: Said
    }
  /** Opens a subscription in place of the one before. */
  | { does: 'subscribe'; who: Name; userIds: readonly string[] }
  /** A request on the watch stream, which is opened if there is none. */
  | { does: 'ask'; who: Name; request: Said }
  | { does: 'end gRPC'; who: Name }
  | { does: 'go invisible'; who: 'hidden'; by: 'socket' | 'self' | 'backend'; expiresInMs: number | null }
  | { does: 'restart'; who: null }

export interface Step {
  moves: readonly Move[]
  passMs: number
  /** The next step comes while things are still under way; without it, when everything has been told. */
  runsOn?: true
}

export interface History {
  settings: SettingsInput
  steps: readonly Step[]
  /** From this step on everything `hidden` does is the secret. */
  secretFrom: number
  /** How long the archive takes to answer; not at all unless said otherwise. */
  archiveMs?: number
}

/** The devices `hidden` may have used, by socket or by HTTP. */
export const HIDDEN_DEVICES = ['h1', 'h2', 'h3'] as const
