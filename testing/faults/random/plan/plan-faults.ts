// Which faults a run has, when and for how long. Faults of one part follow each other; faults of different parts
// overlap, because most of what goes wrong only goes wrong together.
import type { StoreKind } from '../deployment/store.ts'

const STORE_FAULTS = {
  redis: [
    'store restarted empty',
    'store restarted',
    'store frozen',
    'store paused',
    'store flushed',
    'subscriptions killed',
  ],
  cluster: ['failover', 'store flushed', 'one master flushed', 'master paused', 'subscriptions killed'],
} as const satisfies Record<StoreKind, readonly string[]>
const ARCHIVE_FAULTS = ['archive stopped', 'archive frozen', 'table locked', 'archive full'] as const
const SERVER_FAULTS = ['server killed', 'server frozen', 'server paused', 'rolling restart'] as const
const STREAMING_FAULTS = ['kafka stopped', 'kafka killed', 'kafka frozen', 'owner killed'] as const
const CLIENT_FAULTS = ['mass reconnect'] as const

export type FaultKind =
  | (typeof STORE_FAULTS)[StoreKind][number]
  | (typeof ARCHIVE_FAULTS)[number]
  | (typeof SERVER_FAULTS)[number]
  | (typeof STREAMING_FAULTS)[number]
  | (typeof CLIENT_FAULTS)[number]

export interface PlannedFault {
  kind: FaultKind
  at: number
  forMs: number
  /** Picks the server, the node or the table. */
  which: number
}

const FIRST_AT_MS = 1_000
const FOR_MS = { min: 500, max: 4_000 }

export interface FaultPlanOptions {
  random: () => number
  store: StoreKind
  /** One fault at least is of Kafka or of an owner then. */
  hasKafka: boolean
  activeMs: number
}

export function planFaults({ random, store, hasKafka, activeMs }: FaultPlanOptions): PlannedFault[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const servers: (readonly FaultKind[])[] = [STORE_FAULTS[store], ARCHIVE_FAULTS, SERVER_FAULTS]
  const parts = [...servers, ...(hasKafka ? [STREAMING_FAULTS] : []), CLIENT_FAULTS]
  const freeAt = parts.map(() => FIRST_AT_MS)
  // The first two are of different parts. Clients are the last part and the least interesting one.
  const any = Math.floor(random() * servers.length)
  const first = hasKafka ? servers.length : any
  const second = hasKafka ? any : (first + 1 + Math.floor(random() * 2)) % servers.length
  return Array.from({ length: 2 + Math.floor(random() * 3) }, (_, index) => {
    const other = random() < 0.2 ? parts.length - 1 : Math.floor(random() * (parts.length - 1))
    const part = [first, second][index] ?? other
    const forMs = Math.round(FOR_MS.min + random() * (FOR_MS.max - FOR_MS.min))
    const at = Math.round(freeAt[part]! + random() * (activeMs / 3))
    freeAt[part] = at + forMs + 500
    return { kind: pick(parts[part]!), at, forMs, which: Math.floor(random() * 1_000) }
  }).sort((a, b) => a.at - b.at)
}
