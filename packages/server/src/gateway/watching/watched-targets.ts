// Which users this gateway keeps up to date: reference counts of targets, and the interest that the store
// holds for them. Interest is registered before a target is first read and removed with its last reference.
import { chunksOf } from '../../platform/chunks.ts'
import { grown } from '../../platform/typed-arrays.ts'
import type { PresenceStore } from '../../store/port.ts'
import type { Delivery } from '../delivery/delivery.ts'
import type { Doubts } from '../doubts.ts'
import type { Identity } from '../identity.ts'
import type { Interner } from '../interner.ts'

const USERS_PER_CALL = 500

export interface WatchedTargets {
  /** Takes a reference and returns the interned user. */
  retain(userId: string): number
  /** Takes another reference to a target that is retained. */
  retainAgain(target: number): void
  release(target: number): void
  isRetained(target: number): boolean
  registerInterest(userIds: readonly string[]): Promise<void>
  /** Registers the interest in these again, under the gateway's present name. */
  registerAgain(isMeant: (userId: string) => boolean): Promise<void>
  /** All retained users, in slices. */
  slices(): Generator<string[]>
  count(): number
}

export interface WatchedTargetsParts {
  interner: Interner
  delivery: Delivery
  store: PresenceStore
  identity: Identity
  doubts: Doubts
}

export function createWatchedTargets(parts: WatchedTargetsParts): WatchedTargets {
  const { interner, delivery, store, identity, doubts } = parts
  /** Per target, the edges that lead to it, the watches under way and the streams of the user. */
  let references = new Int32Array(0)
  let retained = 0

  const onTrouble = () => doubts.report('interest could not be registered')

  function* slices(): Generator<string[]> {
    const userIds: string[] = []
    for (let target = 0; target < references.length; target++)
      if (references[target]! > 0) userIds.push(interner.name(target))
    yield* chunksOf(userIds, USERS_PER_CALL)
  }

  return {
    retain(userId) {
      const target = interner.acquire(userId)
      references = grown(references, target + 1)
      if (references[target]!++ === 0) retained++
      return target
    },
    retainAgain(target) {
      interner.retain(target)
      references[target]!++
    },
    release(target) {
      if (--references[target]! === 0) {
        retained--
        delivery.forget(target)
        store.removeInterest(identity.id(), [interner.name(target)]).catch(onTrouble)
      }
      interner.release(target)
    },
    isRetained: (target) => target < references.length && references[target]! > 0,
    registerInterest: (userIds) => store.addInterest(identity.id(), userIds).catch(onTrouble),
    async registerAgain(isMeant) {
      for (const userIds of slices()) await store.addInterest(identity.id(), userIds.filter(isMeant))
    },
    slices,
    count: () => retained,
  }
}
