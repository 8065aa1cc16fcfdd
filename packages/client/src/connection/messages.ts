// Messages between a tab and the hub. They may be in the same program, a page and a worker, or two pages:
// messages are plain data, and either side may disappear at any time. No message has to arrive: a tab that
// finds a new hub sends everything again.
import type { ClientFrame, OwnPresence, Presence } from '@greendot/protocol'
import type { Answer, DotFailure } from '../types.ts'
import type { Gone } from './transport.ts'

export type ToHub =
  /** All that the tab watches and knows. Attaching also joins after `leave`. */
  | { type: 'attach'; userId: string | null; ids: string[]; people: Presence[]; activeAt: number }
  | { type: 'watch' | 'unwatch'; ids: string[] }
  /** The user was active in this tab at this instant; 0: the user is known to be idle. */
  | { type: 'active'; at: number }
  | { type: 'request'; ref: number; frame: ClientFrame }
  | { type: 'token'; ref: number; token: string }
  | { type: 'no_token'; ref: number; problem: string }
  /** The network may have changed. Answered with `link`, like `attach` and `active`. */
  | { type: 'poke' }
  /** Leaves with the whole device. */
  | { type: 'leave' }

export type FromHub =
  | ({ type: 'link' } & LinkView)
  /** Current presence. A tab ignores targets that it does not watch. */
  | { type: 'people'; people: Presence[] }
  /** The whole contact list. */
  | { type: 'contacts'; people: Presence[] }
  | { type: 'me'; me: OwnPresence }
  | { type: 'answer'; ref: number; answer: Answer }
  | { type: 'error'; failure: DotFailure }
  /** Asks the tab for a token: only the app can get one. */
  | { type: 'token'; ref: number }

/** The connection as tabs see it. */
export interface LinkView {
  state: 'down' | 'live' | Gone
  /** New with every connection: requests on an older one may be lost. */
  sessionId: string | null
  userId: string | null
  awayAfterMs: number
  /** The latest activity in any tab, so that a new hub can continue from it. */
  activeAt: number
}

/** From a tab to the present hub, wherever that runs. */
export interface Uplink {
  send(message: ToHub): void
  /** Detaches this tab without `leave`. */
  close(): void
}

export interface UplinkEvents {
  /** There is a hub, perhaps a new one: send `attach`. */
  attached(): void
  down(message: FromHub): void
}

export type OpenUplink = (on: UplinkEvents) => Uplink
