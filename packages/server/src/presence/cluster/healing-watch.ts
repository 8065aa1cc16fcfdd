// Shards that lost their memory settle for a fixed time, in which gateways announce their sessions again. On a busy
// machine, or with very many users, that takes longer. So while a shard settles and a gateway still heals, the time
// begins again; otherwise connected users who are not announced yet would be shown as offline.
import type { Clock, Timer } from '../../platform/clock.ts'
import type { PresenceStore } from '../../store/port.ts'
import { lookAtGatewayLeases } from './gateway-leases.ts'
import type { Outages } from './outages.ts'

const LOOK_EVERY_MS = 1_000
/** A gateway that cannot heal for so long must not hold up the others for ever. */
const HEALING_MS_MAX = 600_000

export interface HealingWatchParts {
  /** As it settles with all that delays it. */
  store: Pick<PresenceStore, 'shardCount' | 'settlesAt' | 'liveLeases'>
  outages: Pick<Outages, 'notice'>
  leaseMs: number
  clock: Clock
}

export function startHealingWatch({ store, outages, leaseMs, clock }: HealingWatchParts): Timer {
  /** Since when a shard has been settling without a break; null while none does. */
  let settlingSince: number | null = null
  let isLooking = false

  function isSettling(now: number): boolean {
    for (let shard = 0; shard < store.shardCount; shard++) if (now < store.settlesAt(shard)) return true
    return false
  }

  async function look(): Promise<void> {
    const now = clock.now()
    if (!isSettling(now)) {
      settlingSince = null
      return
    }
    settlingSince ??= now
    if (isLooking || now - settlingSince > HEALING_MS_MAX) return
    isLooking = true
    try {
      const { held, fresh } = await lookAtGatewayLeases(store, now, leaseMs)
      if (fresh < held) outages.notice()
    } catch {
      // A store that is away delays settling by itself.
    } finally {
      isLooking = false
    }
  }
  return clock.every(LOOK_EVERY_MS, () => void look())
}
