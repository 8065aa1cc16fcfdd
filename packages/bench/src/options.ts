// The command line of the benchmark: scenarios and flags, checked before anything is started. A
// mistake comes back as one sentence.
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Encoding } from '@greendot/protocol'
import { SCENARIO_NAMES, type ScenarioName } from './catalog.ts'
import { GRAPHS, type GraphKind } from './load/graphs.ts'
import { type Flag, parseFlags } from './platform/flags.ts'

export interface Options {
  scenarios: readonly ScenarioName[]
  users: number
  contacts: number
  graph: GraphKind
  seed: number
  seconds: number
  /** Arrivals or changes a second; null is the default of the scenario. */
  rate: number | null
  ramp: boolean
  drain: boolean
  /** What p99 may be for a rate to count as sustained. */
  boundMs: number
  changers: number | null
  order: 'shuffled' | 'sequential'
  encoding: Encoding
  minutes: number
  loads: number | null
  exactConnections: number
  gateways: number
  redis: boolean
  redisUrl: string | null
  /** The streaming deployment, on a broker of its own. */
  kafka: boolean
  kafkaBrokers: string | null
  port: number | null
  serverCore: number | null
  loadCore: number | null
  /** The script of the server that is measured; null is the installed one. */
  server: string | null
  /** Settings of the server, as flags. */
  settings: readonly string[]
  /** Folders, a JSON file, or documents with tables. */
  out: readonly string[]
  /** The marker of the table in those documents; null is the name of the scenario. */
  table: string | null
}

/** A process may hold 20,000 files on common systems; some are needed for other things. */
const CONNECTIONS_PER_PROCESS_MAX = 18_000

export type ParsedOptions = { ok: true; options: Options } | { ok: false; problem: string }

export const FLAGS: readonly Flag[] = [
  { name: 'users', sign: '<n>', help: 'users, each with one connection', fallback: '15000' },
  { name: 'contacts', sign: '<n>', help: 'contacts each of them watches', fallback: '18' },
  {
    name: 'graph',
    sign: '<kind>',
    help: 'of watchers and targets: ring, random or power-law',
    fallback: 'ring',
  },
  { name: 'seed', sign: '<n>', help: 'of the graph and of the order of changes', fallback: '1' },
  { name: 'seconds', sign: '<n>', help: 'length of what is measured', fallback: '10' },
  { name: 'rate', sign: '<n>', help: 'changes (churn, soak, query) or connects (connect) a second' },
  { name: 'ramp', sign: null, help: 'looks for the highest rate that is sustained' },
  { name: 'bound-ms', sign: '<n>', help: 'p99 up to which a rate counts as sustained', fallback: '100' },
  { name: 'changers', sign: '<n>', help: 'how many users change, in turns [all of them]' },
  { name: 'order', sign: '<order>', help: 'of the turns: shuffled or sequential', fallback: 'shuffled' },
  { name: 'encoding', sign: '<name>', help: 'of presence to the load: json or compact', fallback: 'json' },
  { name: 'drain', sign: null, help: 'storm: gateways drain and restart one by one instead of being killed' },
  { name: 'minutes', sign: '<n>', help: 'length of a soak', fallback: '10' },
  { name: 'loads', sign: '<n>', help: 'load-generator processes [as many as the users need]' },
  { name: 'exact', sign: '<n>', help: 'connections that read every frame, about', fallback: '1000' },
  { name: 'gateways', sign: '<n>', help: 'gateway processes on one port; over 1 with Redis', fallback: '1' },
  { name: 'redis', sign: null, help: 'starts a redis-server for the run' },
  { name: 'redis-url', sign: '<url>', help: 'takes this Redis; it is written to' },
  {
    name: 'kafka',
    sign: null,
    help: 'the streaming deployment: starts a Kafka, an owner and a fan-out process; with Redis',
  },
  { name: 'kafka-brokers', sign: '<list>', help: 'the same on these brokers; topics are created there' },
  {
    name: 'server',
    sign: '<path>',
    help: 'the cli.ts of another checkout, to measure that server with this load [the installed one]',
  },
  { name: 'port', sign: '<n>', help: 'port of the server [a free one]' },
  {
    name: 'pin',
    sign: null,
    help: 'server and load on a core each; --no-pin for not [on for one gateway without Kafka]',
  },
  { name: 'server-core', sign: '<n>', help: 'core of the server, when pinned', fallback: '0' },
  { name: 'load-core', sign: '<n>', help: 'core of the load, when pinned', fallback: '1' },
  {
    name: 'set',
    sign: '<name=value>',
    help: 'a setting of the server, as flush_ms=20; may be repeated',
    isRepeatable: true,
  },
  {
    name: 'out',
    sign: '<path>',
    help: 'folder for report.html and a JSON file per scenario, one .json file, or a .md file with markers; may be repeated',
    isRepeatable: true,
  },
  {
    name: 'table',
    sign: '<name>',
    help: 'the marker to fill in a .md file, <!-- table: name --> [the name of the scenario]',
  },
]

export function parseOptions(argv: readonly string[]): ParsedOptions {
  const parsed = parseFlags(argv, FLAGS)
  if (!parsed.ok) return parsed
  const { flags, words } = parsed
  const isOn = (name: string): boolean => flags.isOn(name) ?? false
  const names: readonly string[] = SCENARIO_NAMES
  const unknown = words.find((name) => !names.includes(name))
  if (unknown !== undefined)
    return { ok: false, problem: `no scenario "${unknown}"; there are ${names.join(', ')}` }
  if (words.length === 0)
    return { ok: false, problem: `say what to measure: ${names.join(', ')}; --help lists the flags` }

  const problems: string[] = []
  function whole(name: string, min: number, max: number): number | null {
    const given = flags.text(name)
    if (given === null) return null
    const value = Number(given)
    if (/^\d+$/.test(given) && value >= min && value <= max) return value
    problems.push(`--${name}: "${given}" is not a whole number from ${min} to ${max}`)
    return min
  }
  function oneOf<T extends string>(name: string, choices: readonly T[]): T {
    const given = flags.text(name)
    if (choices.includes(given as T)) return given as T
    problems.push(`--${name}: "${given}" is none of ${choices.join(', ')}`)
    return choices[0]!
  }

  const users = whole('users', 2, 1_000_000)!
  const gateways = whole('gateways', 1, 64)!
  const contacts = whole('contacts', 0, 10_000)!
  const isStreaming = isOn('kafka') || flags.text('kafka-brokers') !== null
  const isPinned = flags.isOn('pin') ?? (gateways === 1 && !isStreaming)
  const cores = availableParallelism()
  const core = (name: string) => whole(name, 0, Math.max(0, cores - 1))
  const settings = flags.all('set').map((setting) => {
    const match = /^([a-z_]+)=(.*)$/.exec(setting)
    if (match === null) problems.push(`--set: "${setting}" is not of the form name=value, as flush_ms=20`)
    return `--${match?.[1]?.replaceAll('_', '-')}=${match?.[2]}`
  })
  const options: Options = {
    scenarios: words as ScenarioName[],
    users,
    contacts,
    graph: oneOf(
      'graph',
      GRAPHS.filter((kind) => kind !== 'star'),
    ),
    seed: whole('seed', 0, 2 ** 31)!,
    seconds: whole('seconds', 1, 3600)!,
    rate: whole('rate', 1, 10_000_000),
    ramp: isOn('ramp'),
    drain: isOn('drain'),
    boundMs: whole('bound-ms', 1, 60_000)!,
    changers: whole('changers', 1, users),
    order: oneOf('order', ['shuffled', 'sequential']),
    encoding: oneOf('encoding', ['json', 'compact']),
    minutes: whole('minutes', 1, 7 * 24 * 60)!,
    loads: whole('loads', 1, 64),
    exactConnections: whole('exact', 1, 1_000_000)!,
    gateways,
    redis: isOn('redis'),
    redisUrl: flags.text('redis-url'),
    kafka: isOn('kafka'),
    kafkaBrokers: flags.text('kafka-brokers'),
    port: whole('port', 1, 65_535),
    serverCore: isPinned && cores > 1 ? core('server-core') : null,
    loadCore: isPinned && cores > 1 ? core('load-core') : null,
    server: flags.text('server'),
    settings,
    out: flags.all('out'),
    table: flags.text('table'),
  }
  if (options.server !== null && !existsSync(options.server))
    problems.push(`--server: there is no file ${options.server}`)
  if (contacts >= users) problems.push(`--contacts: ${users} users can have at most ${users - 1} contacts`)
  if (gateways > 1 && !options.redis && options.redisUrl === null)
    problems.push('--gateways: several gateways share their state through Redis; add --redis or --redis-url')
  if (isStreaming && !options.redis && options.redisUrl === null)
    problems.push('--kafka: the state of users is in Redis; add --redis or --redis-url')
  if (users > gateways * CONNECTIONS_PER_PROCESS_MAX)
    problems.push(
      `--users: a process holds at most ${CONNECTIONS_PER_PROCESS_MAX} connections, so ${users} users need ` +
        `--gateways ${Math.ceil(users / CONNECTIONS_PER_PROCESS_MAX)} --redis`,
    )
  if (options.loads !== null && users > options.loads * CONNECTIONS_PER_PROCESS_MAX)
    problems.push(
      `--loads: ${users} users need at least ${Math.ceil(users / CONNECTIONS_PER_PROCESS_MAX)} processes`,
    )
  if (options.out.some((path) => path.endsWith('.json')) && words.length > 1)
    problems.push('--out: one file holds one scenario; give a folder for several')
  if (options.table !== null && words.length > 1)
    problems.push('--table: names the table of one scenario; leave it out for several')
  const [problem] = problems
  return problem === undefined ? { ok: true, options } : { ok: false, problem }
}

/** As many load processes as were asked for, or as the users need. */
export const loadsFor = ({ loads, users }: Pick<Options, 'loads' | 'users'>): number =>
  loads ?? Math.ceil(users / CONNECTIONS_PER_PROCESS_MAX)

/** Connects a second in the scenario `connect`, unless told otherwise. */
export const CONNECTS_PER_SECOND = 1_000

/**
 * Users that `connect` times while all others are connected: as many as the rate and the seconds ask for, or as
 * the processes have room for.
 */
export function timedUsers({ users, gateways, loads, rate, seconds, ramp }: Options): number {
  if (ramp) return 0
  const room = Math.min(gateways, loads ?? gateways) * CONNECTIONS_PER_PROCESS_MAX - users
  return Math.max(0, Math.min((rate ?? CONNECTS_PER_SECOND) * seconds, room))
}
