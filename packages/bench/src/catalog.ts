// The names of the scenarios and what each measures, for the help and for the command line.

export const CATALOG = {
  connect:
    'users connect at a fixed rate while all others are connected, from socket to welcome and snapshot',
  idle: 'all users connected and beating: memory per user, CPU, bytes per user and hour',
  memory: 'memory per user while idle, while users change at a fixed rate, and a minute later',
  churn: 'users change at a fixed rate: deliveries, how late they are, what they cost; --ramp for the limit',
  fanout: 'the changes of one user to all others, beside a bare loop of send',
  celebrity: 'one user, watched by all others, changes 10 times in 2 s',
  query: 'how long batch queries of 200 and 1,000 take while users change',
  storm: 'the server is killed (or drained) and restarted: how soon all users are back, what watchers saw',
  peers: 'the same work for Greendot, Socket.IO and other servers that are installed, in one table',
  soak: 'churn, reconnects and queries for --minutes: memory slope and errors',
} as const

export type ScenarioName = keyof typeof CATALOG
export const SCENARIO_NAMES = Object.keys(CATALOG) as ScenarioName[]
