// The orders to a load process and its answers. Plain data: it crosses processes.

import type { TargetSpec } from '../subject/subject.ts'
import type { GraphSpec } from './graphs.ts'
import type { Phase, ScheduleSpec } from './schedule.ts'

export interface Job {
  target: TargetSpec
  graph: GraphSpec
  schedule: ScheduleSpec
  /** This process holds the users `index`, `index + of`, `index + 2 of`, … */
  index: number
  of: number
  /** Its first source address; see addresses.ts. */
  firstAddress: number
  /** Every so many connections one is exact: it reports each delivery, the others are counted. */
  exactEvery: number
}

export type Order =
  | { do: 'prepare'; job: Job }
  /** Answers with the clock of the process. */
  | { do: 'clock' }
  /** Opens a connection for each user: user n at `startAt + n / perSecond`, or `parallel` at a time. */
  | { do: 'connect'; arrivals: Arrivals; limitMs: number }
  | { do: 'mark' }
  | { do: 'beat'; everyMs: number }
  /** Adds a phase to the schedule; its changes are made when they are due. */
  | { do: 'phase'; phase: Phase }
  /** From now on a user that loses its connection reconnects at once. */
  | { do: 'return' }
  /** So many reconnects a second, of users without changes and without exact connections; 0 stops it. */
  | { do: 'cycle'; perSecond: number }
  | { do: 'pauseReading'; but: number }
  /** Keeps the payloads of the next pushed frames. */
  | { do: 'record'; frames: number }
  | { do: 'recorded' }
  | { do: 'report' }
  | { do: 'inspect' }
  | { do: 'close' }

export type Arrivals =
  | { how: 'rate'; startAt: number; perSecond: number; from: number; to: number }
  | { how: 'parallel'; parallel: number; from: number; to: number }

/** Counts since the start of the process; a reader takes differences. */
export interface Counts {
  /** Connections that are ready now. */
  ready: number
  /** Times a connection became ready. */
  arrivals: number
  closed: number
  errors: number
  bytesIn: number
  bytesOut: number
  frames: number
  updates: number
  /** Frames with a user's own view. */
  ownFrames: number
  /** Updates that the exact connections received. */
  exactUpdates: number
  /** Changes that an exact connection did not receive because a newer one replaced them. */
  superseded: number
  /** Received after a newer change of the same user. */
  backwards: number
  /** Changes received that were never made. */
  unmade: number
  /** Times a connected user was shown as offline, after the mark. */
  gone: number
  changesMade: number
}

export interface Report {
  counts: Counts
  /** Some of the errors, in words. */
  samples: string[]
  /** Encoded histograms since the last report: how late changes arrived, and how late they were made. */
  recent: string
}

export interface ConnectReport {
  /** Encoded: from the instant the arrival was due to its last state. */
  latencies: string
  failed: number
  lastReadyAt: number
}

/** The result of the phases. */
export interface Inspection {
  /** Encoded histograms by phase: from due to received, exact connections. */
  phases: string[]
  /** By phase: from due to made, by this process. */
  lateness: string[]
  /** Pairs of an exact connection and a contact, and how many of them have not the newest change. */
  pairs: number
  behind: number
  /** The number of changes that exact connections must receive in all. */
  due: number
  exactConnections: number
  /** The most frames any connection got since the mark. */
  framesMax: number
}
