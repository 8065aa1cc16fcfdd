// The input of the model: how many users, how busy, on which machines. One table has the meaning, range and
// default of each flag; rates are those of the busiest hour.
import type { Encoding } from '@greendot/protocol'
import type { Flag } from '../platform/flags.ts'
import type { Read } from './constants.ts'

interface Ask {
  flag: string
  fallback: number
  min: number
  max: number
  isWhole?: true
  help: string
}

const ASKS = {
  users: { flag: 'users', fallback: 1_000_000, min: 1, max: 1e11, isWhole: true, help: 'users in all' },
  online: { flag: 'online', fallback: 0.2, min: 0.0001, max: 1, help: 'share of them online' },
  contacts: { flag: 'contacts', fallback: 50, min: 0, max: 100_000, isWhole: true, help: 'contacts of each' },
  devices: { flag: 'devices', fallback: 1, min: 1, max: 32, help: 'connections of a user online' },
  changes: {
    flag: 'changes',
    fallback: 6,
    min: 0,
    max: 3600,
    help: 'visible changes an hour of a user online',
  },
  connects: { flag: 'connects', fallback: 2, min: 0, max: 3600, help: 'connects an hour of a connection' },
  queries: { flag: 'queries', fallback: 0, min: 0, max: 1e9, help: 'batch queries of 200 a second, in all' },
  heartbeatMs: {
    flag: 'heartbeat-interval-ms',
    fallback: 15_000,
    min: 1000,
    max: 3_600_000,
    help: 'as in the server',
  },
  flushMs: { flag: 'flush-ms', fallback: 50, min: 1, max: 1000, help: 'as in the server' },
  cores: { flag: 'cores', fallback: 8, min: 1, max: 1024, isWhole: true, help: 'cores of a gateway machine' },
  memoryGb: { flag: 'memory-gb', fallback: 32, min: 1, max: 65_536, help: 'memory of a gateway machine' },
  networkGbps: {
    flag: 'network-gbps',
    fallback: 10,
    min: 0.1,
    max: 10_000,
    help: 'network of a gateway machine',
  },
  processConnections: {
    flag: 'process-connections',
    fallback: 50_000,
    min: 1,
    max: 10_000_000,
    isWhole: true,
    help: 'connections that one process is trusted with',
  },
  redisMemoryGb: { flag: 'redis-memory-gb', fallback: 16, min: 1, max: 65_536, help: 'memory of a Redis' },
  replicas: { flag: 'replicas', fallback: 1, min: 0, max: 10, isWhole: true, help: 'replicas of each Redis' },
  utilisation: {
    flag: 'utilisation',
    fallback: 0.6,
    min: 0.05,
    max: 1,
    help: 'how full machines may be; the rest is headroom',
  },
  reserve: {
    flag: 'reserve',
    fallback: 1,
    min: 0,
    max: 1000,
    isWhole: true,
    help: 'gateway machines that may fail at once',
  },
} as const satisfies Record<string, Ask>

/** The flag that says how many are online, in the place of how many there are. */
export const ONLINE_USERS = 'online-users'

const ENCODING = 'encoding'
const ENCODINGS: readonly Encoding[] = ['json', 'compact']
/** What `@greendot/client` uses. */
const DEFAULT_ENCODING: Encoding = 'compact'

type Numbers = Record<keyof typeof ASKS, number>
export type Workload = Readonly<Numbers & { encoding: Encoding }>

const KEYS = Object.keys(ASKS) as (keyof Numbers)[]

export const WORKLOAD_FLAGS: readonly Flag[] = [
  ...KEYS.map((key) => {
    const { flag, help, fallback } = ASKS[key]
    return { name: flag, sign: '<n>', help, fallback: String(fallback) }
  }),
  {
    name: ENCODING,
    sign: '<name>',
    help: `of presence to clients: ${ENCODINGS.join(' or ')}`,
    fallback: DEFAULT_ENCODING,
  },
]

const DEFAULT_NUMBERS = Object.fromEntries(KEYS.map((key) => [key, ASKS[key].fallback])) as Numbers

/** `text` gives the value of a flag, or null. The first mistake is the problem. */
export function readWorkload(text: (flag: string) => string | null): Read<Workload> {
  const workload = { ...DEFAULT_NUMBERS }
  for (const key of KEYS) {
    const given = text(ASKS[key].flag)
    if (given === null) continue
    const read = readOne(given, ASKS[key])
    if (!read.ok) return read
    workload[key] = read.value
  }
  const given = text(ONLINE_USERS)
  if (given !== null) {
    const read = readOne(given, { ...ASKS.users, flag: ONLINE_USERS })
    if (!read.ok) return read
    workload.users = Math.round(read.value / workload.online)
  }
  const name = text(ENCODING) ?? DEFAULT_ENCODING
  const encoding = ENCODINGS.find((one) => one === name)
  if (encoding === undefined) return { ok: false, problem: `--${ENCODING}: is ${ENCODINGS.join(' or ')}` }
  return { ok: true, value: { ...workload, encoding } }
}

function readOne(given: string, { flag, min, max, isWhole }: Omit<Ask, 'fallback' | 'help'>): Read<number> {
  const value = /^[\d_,.]+(e\d+)?$/i.test(given) ? Number(given.replace(/[_,]/g, '')) : Number.NaN
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return { ok: true, value }
  const kind = isWhole ? 'a whole number' : 'a number'
  const range = `from ${min < 1 ? min : min.toLocaleString('en')} to ${max.toLocaleString('en')}`
  return { ok: false, problem: `--${flag}: needs ${kind} ${range}` }
}
