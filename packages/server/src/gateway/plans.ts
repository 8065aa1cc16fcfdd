// By which plan a change reaches those who watch: chosen by how many of them this gateway has. A change
// is one message to each interested gateway, so the crowd to be paced is the local one, and nothing has
// to be asked of anybody to choose. Watchers who are not to be noticed have no part in it: as long as they are
// few they cost little, and are told at once.
import type { WatchIndex } from './watch-index.ts'

export interface Plans {
  /** Up to so many watchers a change is marked for all of them at once. */
  pacedAbove: number
  /** Above this, waves share a fixed number of walkers. */
  queuedAbove: number
  /** Above this, whoever comes new is told the state and has to ask again; 0 for never. */
  polledAbove: number
  /** The longest that a change may be on its way. */
  paceMsMax: number
}

/** Those who are not to be noticed count where there are so many of them that no single one can be felt. */
const DISCREET_CROWD = 1_000

export const areDiscreetFew = (index: WatchIndex, target: number): boolean =>
  index.discreetWatchers(target) < DISCREET_CROWD

/** How many watchers a plan is made for. */
export function audienceOf(index: WatchIndex, target: number): number {
  const watchers = index.watchers(target)
  return areDiscreetFew(index, target) ? watchers - index.discreetWatchers(target) : watchers
}

export type Plan = 'instant' | 'paced' | 'queued'

export const ALL_AT_ONCE: Plans = {
  pacedAbove: Number.POSITIVE_INFINITY,
  queuedAbove: Number.POSITIVE_INFINITY,
  polledAbove: 0,
  paceMsMax: 10_000,
}

export function planFor(audience: number, { pacedAbove, queuedAbove }: Plans): Plan {
  if (audience <= pacedAbove) return 'instant'
  return audience > queuedAbove ? 'queued' : 'paced'
}

/** A presence object that says that no changes will follow it. */
export const unpushed = (json: string): string => `${json.slice(0, -1)},"pushed":false}`
