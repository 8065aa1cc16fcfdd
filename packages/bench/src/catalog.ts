// The scenarios by name, for help and for the command line. Apart from their code, so that the help of
// the program does not load the whole benchmark.

export const CATALOG = {
  connect: 'arrivals at a fixed rate, from socket to welcome and snapshot; the rate that is sustained',
  idle: 'everybody connected and beating: memory per user, CPU, bytes per user and hour',
  churn: 'users change at a fixed rate: deliveries, how late they are, what they cost; --ramp for the limit',
  fanout: 'one change to everybody, again and again, beside a bare loop of send',
  celebrity: 'one user with everybody watching changes 10 times in 2 s',
  query: 'how long batch queries of 200 and 1,000 take while people change',
  storm:
    'the server is killed (or drained) and started again: how soon all are back, what watchers saw of it',
  peers: 'the same work for Greendot, Socket.IO and other servers that are installed, in one table',
  soak: 'churn, reconnects and queries for --minutes: memory slope and errors',
} as const

export type ScenarioName = keyof typeof CATALOG
export const SCENARIO_NAMES = Object.keys(CATALOG) as ScenarioName[]
