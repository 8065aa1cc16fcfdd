// The flags of a watch edge, in one byte: how much the viewer may see of the target, whether that is in
// doubt, and why the edge is there at all. 0, the usual case, is somebody who sees everything and whose
// edge nobody asked for yet.
import { SIGHTS, type Sight } from '../../presence/privacy/visibility.ts'

const SIGHT_MASK = 0b11
/** What the viewer may see is being found out; until then they are told nothing. */
export const IN_DOUBT = 1 << 2
/** Something was about to be told when it came into doubt, or changed since; whatever comes of it, that is told. */
export const HELD_BACK = 1 << 6
/** The client named the target. */
export const NAMED = 1 << 4
/** The target is in the contact list that the connection follows. */
export const FOLLOWED = 1 << 5

const NOTHING = SIGHTS.indexOf('nothing')

export const isWholeSeen = (flags: number): boolean => (flags & (SIGHT_MASK | IN_DOUBT)) === 0
export const isNothingSeen = (flags: number): boolean => (flags & SIGHT_MASK) === NOTHING
export const isInDoubt = (flags: number): boolean => (flags & IN_DOUBT) !== 0
export const sightOf = (flags: number): Sight => SIGHTS[flags & SIGHT_MASK]!

/** The flags with another sight, settled. */
export function withSight(flags: number, sight: Sight): number {
  return (flags & ~(SIGHT_MASK | IN_DOUBT | HELD_BACK)) | SIGHTS.indexOf(sight)
}
