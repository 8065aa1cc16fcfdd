// By which plan a change reaches a crowd of watchers: chosen by how many of them this gateway has. A change
// is one message to each interested gateway, so the crowd to be paced is the local one, and nothing has
// to be asked of anybody to choose. Those who are not to be noticed are a crowd of their own, and never delay
// the others.
import { type Crowd, isDiscreetCrowd } from './watch-index.ts'

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

export type Plan = 'instant' | 'paced' | 'queued'

export const ALL_AT_ONCE: Plans = {
  pacedAbove: Number.POSITIVE_INFINITY,
  queuedAbove: Number.POSITIVE_INFINITY,
  polledAbove: 0,
  paceMsMax: 10_000,
}

/** Fewer of those who are not to be noticed are told at once, so that none of them can be felt by another. */
const DISCREET_FEW = 1_000

/** A limit, as it holds for a crowd. */
export const limitFor = (crowd: Crowd, limit: number): number =>
  isDiscreetCrowd(crowd) ? Math.max(limit, DISCREET_FEW) : limit

export function planFor(crowd: Crowd, watchers: number, { pacedAbove, queuedAbove }: Plans): Plan {
  if (watchers <= limitFor(crowd, pacedAbove)) return 'instant'
  return watchers > limitFor(crowd, queuedAbove) ? 'queued' : 'paced'
}

/** A presence object that says that no changes will follow it. */
export const unpushed = (json: string): string => `${json.slice(0, -1)},"pushed":false}`
