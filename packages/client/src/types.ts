// What an app sees of this package: options in, people out. Objects of the wire keep their wire names
// (`user_id`, `last_seen`); everything that is ours reads like the rest of JavaScript.
import type {
  Activity,
  AvailabilityChoice,
  ErrorCode,
  InstantInput,
  OwnPresence,
  Platform,
  Presence,
} from '@greendot/protocol'

export type {
  Activity,
  Availability,
  AvailabilityChoice,
  CustomStatus,
  ErrorCode,
  InstantInput,
  LastSeenBucket,
  OwnPresence,
  OwnSession,
  Platform,
  Presence,
  Status,
} from '@greendot/protocol'

/**
 * Somebody as they may be shown now. Every change makes a new object, so `===` tells whether anything
 * changed. `stale` says that there was no link for a while: show it as what was last known.
 */
export type Person = Readonly<Presence> & { readonly stale: boolean }

/**
 * `connecting` until the first link; `live`; `stale` when there has been no link for two seconds, which
 * ends by itself; `left` after a goodbye; `closed` for good.
 */
export type DotState = 'connecting' | 'live' | 'stale' | 'left' | 'closed'

export interface DotFailure {
  code: ErrorCode
  message: string
}

/** What became of something that was asked of the server. */
export type Answer = { ok: true } | ({ ok: false } & DotFailure)

export interface DotEvents {
  state: (state: DotState) => void
  /** Anybody watched, by whomever; `before` is undefined when they are seen for the first time. */
  change: (person: Person, before: Person | undefined) => void
  me: (me: OwnPresence) => void
  /** Somebody on the contact list, or the list itself, is other than before; see `watchContacts`. */
  contacts: (contacts: readonly Person[]) => void
  /** Something was refused or did not work. The connection goes on as well as it can. */
  error: (failure: DotFailure) => void
}

export type PersonListener = (person: Person, before: Person | undefined) => void

export interface ConnectOptions {
  /** Where the server is, like `https://presence.example.org`. */
  url: string | URL
  /** A user token, or how to get one. The function is called for every connection. */
  token: string | (() => string | Promise<string>)
  /** Stable across reconnects. By default a browser keeps one, and any other program has one while it runs. */
  deviceId?: string
  /** `web` in a browser, otherwise `other`. */
  platform?: Platform
  /** Tabs of one browser share a connection, unless `separate`. */
  tabs?: 'shared' | 'separate'
  /** Where `@greendot/client/worker` is served, or how to start it: the shared connection then lives there. */
  worker?: string | URL | (() => SharedWorker)
  /** `auto` uses HTTP only where WebSockets cannot be had. */
  transport?: 'auto' | 'websocket' | 'http'
  /** Where a runtime has none of its own, or another one is wanted. */
  WebSocket?: typeof WebSocket
  /**
   * With the Idle Detection API activity anywhere on the device counts, not only in this page. Used when
   * the page has the permission already; with `ask` it asks at the next click.
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

export interface Dot {
  readonly state: DotState
  /** The own view, with availability and sessions; null until the server has told it. */
  readonly me: OwnPresence | null
  /** Undefined for people who are not watched, or of whom nothing came yet. */
  get(userId: string): Person | undefined
  /**
   * Watches until the returned function is called. The listener gets everybody known already, soon, and
   * then every change. Watching somebody twice costs nothing more than once.
   */
  watch(userIds: string | Iterable<string>, listener?: PersonListener): () => void
  /**
   * Watches whoever is on the contact list that the backend keeps for this user, and follows its edits. The
   * listener gets all of them whenever one changes. Those of whom nothing is known are left out.
   */
  watchContacts(listener: DotEvents['contacts']): () => void
  /** Returns the function that takes the listener off again. */
  on<Name extends keyof DotEvents>(name: Name, listener: DotEvents[Name]): () => void
  /** `online` returns to automatic. */
  setAvailability(status: AvailabilityChoice, options?: Expiring): Promise<Answer>
  /** Null, or neither text nor emoji, clears it. */
  setCustomStatus(status: CustomStatusInput | null): Promise<Answer>
  /** For apps that know better than input events do; `auto` goes back to those. */
  setActivity(activity: Activity | 'auto'): void
  /** Goodbye: this device is offline for others at once, in all its tabs. Resolves when that is done. */
  leave(): Promise<void>
  /** Comes back after `leave`. Connecting joins by itself. */
  join(): void
  /** Ends this handle without a goodbye: others see it after the grace of the server. */
  close(): void
}
