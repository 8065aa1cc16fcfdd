// What an event comes to by the archive alone, for when the store does not answer. Nothing of it is stored.
import type { Clock } from '../../platform/clock.ts'
import type { PresenceEvent } from '../core/event.ts'
import { step } from '../core/machine.ts'
import type { Policy } from '../core/policy.ts'
import type { ArchiveLookup } from '../reading/archive-lookup.ts'
import type { Tracked } from './work.ts'

/** The revision of a state that was never committed. Below every revision a store gives. */
export const UNSTORED_REVISION = 0.5

export interface ArchiveOnlyParts {
  lookup: ArchiveLookup
  policy: Policy
  clock: Clock
}

export async function applyByArchive(
  { lookup, policy, clock }: ArchiveOnlyParts,
  userId: string,
  event: PresenceEvent,
): Promise<Tracked> {
  const [archived] = await lookup.loadOrUnknown([userId])
  const { record } = step(archived!.record, [event], clock.now(), policy)
  return { record, revision: UNSTORED_REVISION }
}
