// What leases tell about gateways. One that announces itself again holds its lease for a shorter time than others, so
// all processes see that it is not done: what it has not announced yet is not known to the store.
import type { PresenceStore } from '../../store/port.ts'
import { isGatewayName } from './shard-owner.ts'

/** A lease with at least this share of its time left was renewed on time, by a gateway that does not heal. */
const FRESH_SHARE = 0.75
/** For this share of a lease a gateway that heals renews its own. */
export const HEALING_SHARE = 0.7

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
  const [held, fresh] = await Promise.all([gatewaysAt(0), gatewaysAt(now + leaseMs * FRESH_SHARE)])
  return { held, fresh }
}
