// How the load speaks to one kind of server: the seam behind which Greendot and its peers look alike.
// A wire knows bytes and frames; the schedule and the counters are elsewhere. There are many connections, so a
// wire keeps little state per connection and no timers.

/** The address of a server and the tokens of the users. Made once per load process, before the clock starts. */
export interface Target {
  host: string
  port: number
  /** A source address for the next connection. */
  nextAddress(): string
  /** A signed token (HS256) of that user, ready made. */
  token(user: number): string
  /** Further settings of one kind of server, such as a domain. */
  extra: Readonly<Record<string, string>>
}

export interface ConnectionOptions {
  user: number
  /** The users that this user watches. */
  contacts: readonly number[]
  /** Exact connections report every delivery; the others only count, which costs the load less. */
  isExact: boolean
  events: ConnectionEvents
}

export interface ConnectionEvents {
  /** The server accepted the user, and the states of all contacts have arrived. At most once. */
  onReady(): void
  /** Exact connections only: this user received change `serial` of `user`. */
  onDelivery(user: number, serial: number): void
  /** One pushed message with so many updates of contacts; snapshots and own echoes are not among them. */
  onFrame(payloadBytes: number, updates: number): void
  /** One pushed message with the user's own view, where the server sends such. */
  onOwnFrame(payloadBytes: number): void
  /** Exact connections only: a contact was shown as offline. */
  onGone(user: number): void
  /** Everything that came, in the chunks it came in. */
  onBytes(bytes: number): void
  /** What the connection sent once it was ready. */
  onSent(bytes: number): void
  /** The server drains and asks the client to reconnect after so long. */
  onDrain?(afterMs: number): void
  /** The server refused something or sent something unknown. The connection may stay open. */
  onError(what: string): void
  /** The connection ended or could not be made, unless `close` was called first. At most once. */
  onClose(): void
}

export interface Connection {
  /** Makes a change that all watchers of this user see. Serials are 1, 2, 3, … of this user. */
  change(serial: number): void
  /** A sign of life that changes nothing. */
  beat(): void
  /** From here on serials count: the state received before is change 0. Called while no frames come. */
  mark(): void
  /** Stops reading for good: what comes waits in the kernel and costs the load nothing. */
  pauseReading(): void
  /** Ends the connection without a goodbye. No event after it. */
  close(): void
}

export interface Wire {
  open(target: Target, options: ConnectionOptions): Connection
}

/** The id of a user on every server. */
export const userName = (user: number): string => `user-${user}`
