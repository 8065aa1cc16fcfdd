// Declares the sessions of a lost gateway lost, for the sweeper that finds it and for a gateway that gives
// up a former name.
import { chunksOf } from '../../platform/chunks.ts'
import type { Tracker } from './tracker.ts'

const USERS_PER_BATCH = 1_000

/** Resolves when the loss is committed for every user attached to the gateway. */
export async function loseGateway(
  tracker: Tracker,
  gatewayId: string,
  userIds: readonly string[],
  lostAt: number,
  leaseMs: number,
): Promise<void> {
  const event = { type: 'gateway_lost', gatewayId, at: lostAt, provenAt: lostAt - leaseMs } as const
  for (const batch of chunksOf(userIds, USERS_PER_BATCH))
    await Promise.all(batch.map((userId) => tracker.apply(userId, event)))
}
