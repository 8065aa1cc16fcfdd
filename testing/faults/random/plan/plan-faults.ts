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
const CLIENT_FAULTS = ['mass reconnect'] as const

export type FaultKind =
  | (typeof STORE_FAULTS)[StoreKind][number]
  | (typeof ARCHIVE_FAULTS)[number]
  | (typeof SERVER_FAULTS)[number]
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
  activeMs: number
}

export function planFaults({ random, store, activeMs }: FaultPlanOptions): PlannedFault[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const parts: (readonly FaultKind[])[] = [STORE_FAULTS[store], ARCHIVE_FAULTS, SERVER_FAULTS, CLIENT_FAULTS]
  const freeAt = parts.map(() => FIRST_AT_MS)
  // The first two are of different parts. Clients are the last part and the least interesting one.
  const first = Math.floor(random() * 3)
  const second = (first + 1 + Math.floor(random() * 2)) % 3
  return Array.from({ length: 2 + Math.floor(random() * 3) }, (_, index) => {
    const any = random() < 0.2 ? parts.length - 1 : Math.floor(random() * (parts.length - 1))
    const part = [first, second][index] ?? any
    const forMs = Math.round(FOR_MS.min + random() * (FOR_MS.max - FOR_MS.min))
    const at = Math.round(freeAt[part]! + random() * (activeMs / 3))
    freeAt[part] = at + forMs + 500
    return { kind: pick(parts[part]!), at, forMs, which: Math.floor(random() * 1_000) }
  }).sort((a, b) => a.at - b.at)
}
