// What people do to themselves, the same by WebSocket and by HTTP: checked against the clock, then
// applied and durable before the promise resolves.
import type { Availability, Failure } from '@greendot/protocol'
import type { Clock } from '../platform/clock.ts'
import type { Tracked, Tracker } from '../presence/tracker.ts'
import { expiryFailure } from './schemas.ts'

export type Outcome = { ok: true; tracked: Tracked } | { ok: false; failure: Failure }

export interface Actions {
  setAvailability(
    userId: string,
    choice: { status: Availability; expiresAt: number | null },
    at: number,
  ): Promise<Outcome>
  setCustomStatus(
    userId: string,
    status: { text: string | null; emoji: string | null; expiresAt: number | null },
    at: number,
  ): Promise<Outcome>
}

export function createActions(tracker: Tracker, clock: Clock): Actions {
  async function applyUnlessExpired(
    userId: string,
    event: Parameters<Tracker['apply']>[1] & { expiresAt: number | null },
  ): Promise<Outcome> {
    const failure = expiryFailure(event.expiresAt, clock.now())
    if (failure !== null) return { ok: false, failure }
    return { ok: true, tracked: await tracker.apply(userId, event) }
  }
  return {
    setAvailability: (userId, choice, at) =>
      applyUnlessExpired(userId, { type: 'set_availability', at, ...choice }),
    setCustomStatus: (userId, status, at) =>
      applyUnlessExpired(userId, { type: 'set_custom_status', at, ...status }),
  }
}
