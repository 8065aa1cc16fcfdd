// What a tab and the hub say to each other. The two may be in one program, or a tab and a worker, or two
// tabs: messages are plain data, and either side may be gone at any moment. Nothing depends on a message
// arriving: whoever finds a new hub says everything again.
import type { ClientFrame, OwnPresence, Presence } from '@greendot/protocol'
import type { Answer, DotFailure } from '../types.ts'

/** Among ids that are watched, everybody on the contact list of the user. No user id has a space. */
export const CONTACTS = ' '

/** From a tab to the hub. */
export type Up =
  /** Here I am, with all that I want and know. Whoever comes wants to be present. */
  | { type: 'attach'; userId: string | null; ids: string[]; people: Presence[]; activeAt: number }
  | { type: 'watch' | 'unwatch'; ids: string[] }
  /** Somebody did something here at this instant; 0 says that the person is known to be idle. */
  | { type: 'active'; at: number }
  | { type: 'do'; ref: number; frame: ClientFrame }
  | { type: 'token'; ref: number; token: string }
  | { type: 'no_token'; ref: number; problem: string }
  /** The network may have changed. Answered, as `attach` and `active` are, with the link as it is. */
  | { type: 'poke' }
  /** Goodbye for the whole device. */
  | { type: 'leave' }

/** From the hub to a tab. */
export type Down =
  | ({ type: 'link' } & LinkView)
  /** How these are now. A tab passes over those it does not watch. */
  | { type: 'people'; people: Presence[] }
  /** The same, and they are the whole contact list. */
  | { type: 'contacts'; people: Presence[] }
  | { type: 'me'; me: OwnPresence }
  | { type: 'done'; ref: number; answer: Answer }
  | { type: 'trouble'; failure: DotFailure }
  /** Only the app has tokens, and a hub for several tabs has no app. */
  | { type: 'token'; ref: number }

/** The connection as the tabs know it. */
export interface LinkView {
  state: 'down' | 'live' | 'left'
  /** Another one with every connection: what was asked on an older one may be lost. */
  sessionId: string | null
  userId: string | null
  awayAfterMs: number
  /** The latest activity in any tab, so that a new hub can go on from it. */
  activeAt: number
}

/** The way from a tab to whatever hub there is. */
export interface Uplink {
  send(message: Up): void
  /** This tab is going, without a goodbye to the server. */
  close(): void
}

export interface UplinkEvents {
  /** There is a hub, perhaps a new one: introduce yourself. */
  attached(): void
  down(message: Down): void
}

export type OpenUplink = (on: UplinkEvents) => Uplink
