// Which processes hold sessions of foreign gateways right now, by leases beside those of gateways. All processes that see
// the same leases agree on the holder of a gateway. A holder that does not answer is passed over for a lease.
import type { Clock } from '../platform/clock.ts'
import { HOLDER_PREFIX, ownerOf } from '../presence/cluster/shard-owner.ts'
import type { PresenceStore } from '../store/port.ts'

/** How old the list of holders may be. */
const NAMES_MS = 1_000

export interface Holders {
  /** The holder of a gateway; null where there is none. `isHolding`: this process is one. */
  of(gatewayId: string, isHolding: boolean): Promise<string | null>
  /** A text that differs when another process may be the holder of a gateway than before. */
  edition(): Promise<string>
  passOver(holder: string): void
  /** The leases have changed. */
  lookAgain(): void
}

export interface HoldersParts {
  store: Pick<PresenceStore, 'liveLeases'>
  clock: Clock
  /** The name of this process. */
  name: string
  leaseMs: number
}

export function createHolders({ store, clock, name, leaseMs }: HoldersParts): Holders {
  /** Until when each is passed over. */
  const silent = new Map<string, number>()
  let names: readonly string[] = []
  let namesAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null

  /** One look for all that ask meanwhile. */
  function look(): Promise<void> {
    const now = clock.now()
    if (now - namesAt < NAMES_MS) return Promise.resolve()
    looking ??= store
      .liveLeases(now)
      .then((found) => {
        names = found.filter((one) => one.startsWith(HOLDER_PREFIX))
        namesAt = now
      })
      .finally(() => {
        looking = null
      })
    return looking
  }

  function others(): string[] {
    const now = clock.now()
    for (const [other, until] of silent) if (until <= now) silent.delete(other)
    return names.filter((other) => other !== name && !silent.has(other))
  }

  return {
    async of(gatewayId, isHolding) {
      try {
        await look()
      } catch {
        // Without the store no other process can be reached either.
        return isHolding ? name : null
      }
      return ownerOf(gatewayId, isHolding ? [...others(), name] : others())
    },
    async edition() {
      await look()
      return others().sort().join()
    },
    passOver: (holder) => void silent.set(holder, clock.now() + leaseMs),
    lookAgain() {
      namesAt = Number.NEGATIVE_INFINITY
    },
  }
}
