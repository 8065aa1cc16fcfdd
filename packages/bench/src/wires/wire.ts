// How the load speaks to one kind of server: the seam behind which Greendot and its peers look alike.
// A wire knows bytes and frames; who changes when, and what is counted, is the crowd's business. One
// connection is one user's connection. Connections are many, so a wire keeps little per connection and no timers.

/** Where a server is and how users prove who they are. Made once per load process, before the clock starts. */
export interface Target {
  host: string
  port: number
  /** A source address for the next connection. */
  nextAddress(): string
  /** A signed token (HS256) of that user, ready made. */
  token(user: number): string
  /** What else one kind of server needs to be told, such as a domain. */
  extra: Readonly<Record<string, string>>
}

export interface ConnectionOptions {
  user: number
  /** Whom this user watches. */
  contacts: readonly number[]
  /** Exact connections report every delivery; the others only count, which costs the load less. */
  isExact: boolean
  events: ConnectionEvents
}

export interface ConnectionEvents {
  /** The server took the user in, and the states of all contacts have arrived. At most once. */
  onReady(): void
  /** Exact connections only: this user heard of change `serial` of `user`. */
  onDelivery(user: number, serial: number): void
  /** One pushed message with so many updates of contacts; snapshots and own echoes are not among them. */
  onFrame(payloadBytes: number, updates: number): void
  /** One pushed message about the user themselves, where the server sends such. */
  onOwnFrame(payloadBytes: number): void
  /** Exact connections only: a contact was shown as gone. */
  onGone(user: number): void
  /** Everything that came, in the chunks it came in. */
  onBytes(bytes: number): void
  /** What the connection sent once it was ready. */
  onSent(bytes: number): void
  /** The server goes away and asks to come back after so long, wherever that leads. */
  onDrain?(afterMs: number): void
  /** The server refused something, or said what cannot be understood. The connection may live on. */
  onError(what: string): void
  /** The connection ended or could not be made, unless `close` was called first. At most once. */
  onClose(): void
}

export interface Connection {
  /** Makes a change that all who watch this user see. Serials are 1, 2, 3, … of this user. */
  change(serial: number): void
  /** A sign of life that changes nothing. */
  beat(): void
  /** From here on serials count: what was heard before is change 0. Called while all is quiet. */
  mark(): void
  /** Stops reading for good: what comes waits in the kernel and costs the load nothing. */
  pauseReading(): void
  /** Ends the connection without a goodbye. No event after it. */
  close(): void
}

export interface Wire {
  open(target: Target, options: ConnectionOptions): Connection
}

/** How a user is called on every server. */
export const userName = (user: number): string => `user-${user}`
