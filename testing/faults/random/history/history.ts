// Everything that happened in a random run, with the instants: what clients did, what they were answered, what
// watchers were shown and what was broken. The run only appends to it; the checks only read it.
import type { Presence, Status } from '@greendot/protocol'
import { createTimeline, type Timeline } from '../../timeline.ts'

export type Ending = 'left' | 'closed' | 'silent' | 'lost'

/** A connection from its welcome to its end. */
export interface Connection {
  device: string
  /** The process that holds it. */
  server: string
  openedAt: number
  /** Infinity while it is open. */
  endedAt: number
  ending: Ending | null
}

export type Field = 'availability' | 'text' | 'visibility'

export interface Choice {
  field: Field
  value: string
  sentAt: number
  /** Infinity while it is under way. */
  answeredAt: number
  /** `unanswered`: it may take effect, and also later. */
  outcome: 'acknowledged' | 'refused' | 'unanswered'
  via: string
}

export interface Target {
  readonly id: string
  /** Viewers in the contact list. */
  readonly contacts: ReadonlySet<string>
  readonly connections: Connection[]
  readonly choices: Choice[]
  /** Whether the user means to be connected with any device, and the last kind of departure. */
  readonly isPresent: Timeline<boolean>
}

export interface Sighting {
  at: number
  /** When it was asked for; the same instant for what was pushed. */
  askedAt: number
  viewer: string
  target: string
  status: Status | null
  text: string | null
  deviceCount: number
  version: number
  via: 'snapshot' | 'change' | 'http'
  isDegraded: boolean
  server: string
}

export type FaultScope = 'store' | 'archive' | 'server' | 'kafka' | 'owner' | 'clients'

export interface FaultRecord {
  name: string
  scope: FaultScope
  /** It breaks the archive too, for some process. */
  isOfArchive?: boolean
  from: number
  /** Infinity while it lasts. */
  to: number
  healMs: number
  /** Processes that were killed or frozen past their lease: their connections may be taken as lost. */
  readonly servers: string[]
  /** A process was killed: until when those who left may be shown, if nothing else is broken. */
  ghostsUntil?: number
  /** A process that stood still: what clients sent meanwhile is read then. */
  stoodStill?: { server: string; until: number }
}

/** While a watcher has its snapshot, and is shown every change. */
export interface Watching {
  viewer: string
  server: string
  from: number
  to: number
}

export interface History {
  readonly startedAt: number
  /** When all watchers were first shown the truth. What they are shown later is not about the time before. */
  agreedAt: number
  readonly targets: Map<string, Target>
  readonly sightings: Sighting[]
  readonly watchings: Watching[]
  readonly faults: FaultRecord[]
  readonly remarks: { at: number; text: string }[]
  see(
    how: Pick<Sighting, 'viewer' | 'via' | 'isDegraded' | 'server'>,
    presence: Presence,
    askedAt?: number,
  ): void
  remark(text: string): void
}

/** `now`: the clock of the run. */
export function createHistory(now = () => performance.now()): History {
  const sightings: Sighting[] = []
  const remarks: History['remarks'] = []
  return {
    startedAt: now(),
    agreedAt: Number.NEGATIVE_INFINITY,
    targets: new Map(),
    sightings,
    watchings: [],
    faults: [],
    remarks,
    see(how, { user_id: target, status, custom_status, devices, version }, askedAt) {
      const text = custom_status?.text ?? null
      const at = now()
      sightings.push({
        at,
        askedAt: askedAt ?? at,
        target,
        status,
        text,
        deviceCount: devices.length,
        version,
        ...how,
      })
    },
    remark: (text) => void remarks.push({ at: now(), text }),
  }
}

export function createTarget(id: string, contacts: Iterable<string>): Target {
  return {
    id,
    contacts: new Set(contacts),
    connections: [],
    choices: [],
    isPresent: createTimeline(false),
  }
}
