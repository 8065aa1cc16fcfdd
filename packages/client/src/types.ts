// The public types. Objects of the wire keep their wire names (`user_id`, `last_seen`); everything else uses
// camelCase.
import type {
  Activity,
  Audience,
  AvailabilityChoice,
  ErrorCode,
  InstantInput,
  LastSeenPrecision,
  OwnPresence,
  Platform,
  Presence,
  Settings,
} from '@greendot/protocol'

export type {
  Activity,
  Audience,
  Availability,
  AvailabilityChoice,
  CustomStatus,
  ErrorCode,
  InstantInput,
  LastSeenBucket,
  LastSeenPrecision,
  OwnPresence,
  OwnSession,
  Platform,
  Presence,
  Settings,
  Status,
} from '@greendot/protocol'

/**
 * The presence of a user as this viewer may see it. Every change makes a new object, so `===` tells whether
 * anything changed. `stale`: there is no connection, and this is the last known presence.
 */
export type Person = Readonly<Presence> & { readonly stale: boolean }

/**
 * `connecting` until the first connection; `live`; `stale` after two seconds without a connection, which ends
 * by itself; `left` after `leave()`; `disconnected` when the backend of the app ended the session, which the `error`
 * event says with a reason; `closed` after `close()`.
 */
export type DotState = 'connecting' | 'live' | 'stale' | 'left' | 'disconnected' | 'closed'

export interface DotFailure {
  code: ErrorCode
  message: string
}

/** The answer of the server to a request. */
export type Answer = { ok: true } | ({ ok: false } & DotFailure)

/** The settings after the request, or why it failed. */
export type SettingsAnswer = { ok: true; settings: Settings } | ({ ok: false } & DotFailure)

export interface DotEvents {
  state: (state: DotState) => void
  /** Any watched user changed; `before` is undefined the first time. */
  change: (person: Person, before: Person | undefined) => void
  me: (me: OwnPresence) => void
  /** A contact or the contact list changed; see `watchContacts`. */
  contacts: (contacts: readonly Person[]) => void
  /** The settings, whenever `settings` or `setSettings` got them from the server. */
  settings: (settings: Settings) => void
  /** A request was refused or failed. The connection continues. */
  error: (failure: DotFailure) => void
}

export type PersonListener = (person: Person, before: Person | undefined) => void

export interface ConnectOptions {
  /** The server, like `https://presence.example.org`. */
  url: string | URL
  /** A user token, or a function that gets one; called for every connection. */
  token: string | (() => string | Promise<string>)
  /** Stable across reconnects. By default stored by the browser; other programs get a new one per run. */
  deviceId?: string
  /** `web` in a browser, otherwise `other`. */
  platform?: Platform
  /** Tabs of one user share a connection, unless `separate`. */
  tabs?: 'shared' | 'separate'
  /** The URL of `@greendot/client/worker`, or a function that starts it: the shared connection then lives there. */
  worker?: string | URL | (() => SharedWorker)
  /** `auto` uses HTTP only if WebSockets do not work. */
  transport?: 'auto' | 'websocket' | 'http'
  /** For runtimes without a WebSocket, or to use another implementation. */
  WebSocket?: typeof WebSocket
  /**
   * With the Idle Detection API activity anywhere on the device counts, not only in this page. Used if the
   * page already has the permission; with `ask` the page asks for it at the next click.
   */
  idleDetection?: 'ask' | 'off'
}

export interface Expiring {
  expiresAt?: InstantInput | Date | null
}

export interface CustomStatusInput extends Expiring {
  text?: string | null
  emoji?: string | null
}

/** Settings that are not named stay as they are; null returns to the default of the server. */
export interface SettingsChange {
  /** Viewers who may see anything at all. */
  status_visibility?: Audience | null
  last_seen_visibility?: Audience | null
  /** Whether viewers who hide from this user are hidden from as well. */
  reciprocal?: boolean
  last_seen_precision?: LastSeenPrecision
  /** Viewers who may see this user in any case. */
  allow?: readonly string[]
  /** Viewers who may not see this user in any case. */
  deny?: readonly string[]
  away_after_ms?: number | null
  /** Whether the server may keep a history; false deletes what it kept. */
  history?: boolean
}

export interface Dot {
  readonly state: DotState
  /** The user's own view, with availability and sessions; null until the server has sent it. */
  readonly me: OwnPresence | null
  /** Undefined for users that are not watched, or not known yet. */
  get(userId: string): Person | undefined
  /**
   * Watches until the returned function is called. The listener is called soon for each user that is already
   * known, and then for every change. Watching a user twice sends nothing more.
   */
  watch(userIds: string | Iterable<string>, listener?: PersonListener): () => void
  /**
   * Watches the contact list that the backend keeps for this user, and follows its edits. The listener gets
   * the whole list whenever a contact changes. Contacts who hide or never came are on it, offline with version 0.
   */
  watchContacts(listener: DotEvents['contacts']): () => void
  /** Returns the function that removes the listener. */
  on<Name extends keyof DotEvents>(name: Name, listener: DotEvents[Name]): () => void
  /** `auto` returns to automatic, and so does `online`. */
  setAvailability(status: AvailabilityChoice, options?: Expiring): Promise<Answer>
  /** Null, or neither text nor emoji, clears it. */
  setCustomStatus(status: CustomStatusInput | null): Promise<Answer>
  /** Reads the privacy settings and the away time of the user, over HTTP. */
  settings(): Promise<SettingsAnswer>
  /** Changes the named settings. Takes effect for viewers at once. */
  setSettings(change: SettingsChange): Promise<SettingsAnswer>
  /** Overrides activity detection; `auto` returns to it. */
  setActivity(activity: Activity | 'auto'): void
  /** Leaves: this device is offline at once, in all its tabs. Resolves when that is done. */
  leave(): Promise<void>
  /** Returns after `leave`, or after the state `disconnected`. `connect` joins by itself. */
  join(): void
  /** A unique name, by which an element finds this handle if a framework made it an attribute. */
  toString(): string
  /** Ends this handle without leaving: the user goes offline after the server's offline delay. */
  close(): void
}
