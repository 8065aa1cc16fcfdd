// What leases tell about gateways. One that announces itself again holds its lease for a longer time than others, so
// all processes see that it is not done: what it has not announced yet is not known to the store. It also needs the longer
// lease: its renewals wait behind its announcements, and a lease that runs out then would end sessions that live.
import type { PresenceStore } from '../../store/port.ts'
import { isGatewayName } from './shard-owner.ts'

/** A lease with a share between these two left was renewed on time, by a gateway that does not heal. */
const FRESH_SHARE_MIN = 0.75
const FRESH_SHARE_MAX = 1.05
/** A gateway that heals renews its lease for this many lease times. If it dies meanwhile, that is noticed so much later. */
export const HEALING_SHARE = 2

export interface GatewayLeases {
  held: number
  /** Renewed lately by gateways that have announced everything. */
  fresh: number
}

export async function lookAtGatewayLeases(
  store: Pick<PresenceStore, 'liveLeases'>,
  now: number,
  leaseMs: number,
): Promise<GatewayLeases> {
  const gatewaysAt = async (at: number) => (await store.liveLeases(at)).filter(isGatewayName).length
  const [held, punctual, healing] = await Promise.all([
    gatewaysAt(0),
    gatewaysAt(now + leaseMs * FRESH_SHARE_MIN),
    gatewaysAt(now + leaseMs * FRESH_SHARE_MAX),
  ])
  return { held, fresh: punctual - healing }
}
