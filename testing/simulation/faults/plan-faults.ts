// Which faults a run has, when and for how long. A seed first draws which kinds are allowed at all: runs with one kind
// of fault find what hides when everything is broken at once.
import type { Random } from '../time/random.ts'
import type { SimulatedSettings } from '../world/settings.ts'

const PROCESS_FAULTS = [
  'process crashed',
  'process crashed at a commit',
  'process crashed at a publication',
  'gateway crashed with its clients',
  'process frozen',
  'process paused',
  'process restarted',
  'rolling restart',
] as const
const STORE_FAULTS = [
  'store emptied',
  'node emptied',
  'node restarted empty',
  'node restarted',
  'failover',
  'node frozen',
  'node away',
  'subscriptions killed',
  'connections reset',
] as const
const ARCHIVE_FAULTS = [
  'archive away',
  'archive frozen',
  'archive full',
  'archive locked',
  'archive slow',
  'archive answers lost',
] as const
const NETWORK_FAULTS = [
  'process cut from node',
  'process cut from archive',
  'process cut off',
  'network slow',
] as const
const CLOCK_FAULTS = ['clock set', 'store clock set'] as const
const CLIENT_FAULTS = ['mass reconnect'] as const

const GROUPS = [PROCESS_FAULTS, STORE_FAULTS, ARCHIVE_FAULTS, NETWORK_FAULTS, CLOCK_FAULTS, CLIENT_FAULTS]
/** What a process with a store and a database of its own can suffer. */
const EMBEDDED: readonly FaultKind[] = [
  'process crashed',
  'gateway crashed with its clients',
  'process frozen',
  'process paused',
  'process restarted',
  'archive full',
  'archive slow',
  'clock set',
  'mass reconnect',
]

export type FaultKind = (typeof GROUPS)[number][number]

export interface PlannedFault {
  kind: FaultKind
  /** From the beginning of the active time. */
  at: number
  forMs: number
  /** Picks the process or the node. */
  which: number
  /** From 0 up to 1: how much, where there is a choice. */
  amount: number
}

const FOR_MS = { min: 200, max: 8_000 }
const FAULTS_MAX = 5

export function planFaults(random: Random, settings: SimulatedSettings, activeMs: number): PlannedFault[] {
  const isPossible = (kind: FaultKind) => settings.deployment === 'shared' || EMBEDDED.includes(kind)
  const groups = GROUPS.filter(() => random.isTrue(0.5))
  const kinds: readonly FaultKind[] = groups.flat()
  const allowed = kinds.filter((kind) => isPossible(kind) && random.isTrue(0.6))
  if (allowed.length === 0) return []
  return Array.from({ length: random.below(FAULTS_MAX + 1) }, (): PlannedFault => {
    const isShort = random.isTrue(0.5)
    const maxMs = isShort ? 1_500 : FOR_MS.max
    return {
      kind: random.pick(allowed),
      at: random.fraction() * activeMs,
      forMs: random.between(FOR_MS.min, maxMs),
      which: random.below(1_000),
      amount: random.fraction(),
    }
  }).sort((a, b) => a.at - b.at)
}
