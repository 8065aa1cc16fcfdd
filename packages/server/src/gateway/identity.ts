// The name of this gateway among the others. It is a small value of its own, made before the parts that
// stamp events and interest with it. Only membership changes it, when the gateway starts again (decision 9).
import { randomName } from '../platform/ids.ts'

export interface Identity {
  /** The present name. */
  id(): string
  /** Earlier names whose sessions have not been dealt with. */
  formerIds(): readonly string[]
}

export interface ChangingIdentity extends Identity {
  /** Takes a new name; the present one becomes a former one, last good at `goodUntil`. */
  rename(next: string, goodUntil: number): void
  /** Former names and when each was last good. */
  former(): ReadonlyMap<string, number>
  /** The sessions of a former name are dealt with. */
  drop(formerId: string): void
}

export const newGatewayId = () => randomName('g-')

export function createIdentity(): ChangingIdentity {
  let id = newGatewayId()
  const former = new Map<string, number>()
  return {
    id: () => id,
    formerIds: () => [...former.keys()],
    rename(next, goodUntil) {
      if (!former.has(id)) former.set(id, goodUntil)
      id = next
    },
    former: () => former,
    drop: (formerId) => void former.delete(formerId),
  }
}
