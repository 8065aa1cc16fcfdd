// The server under test, already running. Scenarios are given one and never start a server themselves, so
// the same scenario runs against Greendot and its peers.

/** Plain data: it travels to the load processes. */
export interface TargetSpec {
  /** The name of the wire that speaks to it. */
  wire: string
  host: string
  port: number
  /** Signs the tokens of the users. */
  secret: string
  /** Claims besides sub and exp; `{user}` stands for the user's name. */
  claims: Readonly<Record<string, string>>
  extra: Readonly<Record<string, string>>
}

export interface Subject {
  /** Shown in reports. */
  title: string
  target: TargetSpec
  /** All processes that do its work, asked again for every sample. */
  pids(): number[]
  /** Processes that are counted apart from it, such as Redis. */
  helpers?: readonly { name: string; title: string; pids: readonly number[] }[]
  /** Connects that may wait to be accepted; the kernel tries more than these again after a second. */
  backlogMax?: number
  /** The largest of a metric over its processes since the last call; null where there is none. */
  metric(name: string): Promise<number | null>
  /** The HTTP interface for backends; null for servers without one. */
  backend: { url: string; key: string } | null
  /**
   * Starts it again at the same address: all its processes at once after killing them, or one after the
   * other, each asked to drain first. Null where that cannot be.
   */
  restart: ((how: 'kill' | 'drain') => Promise<void>) | null
  stop(): Promise<void>
}
