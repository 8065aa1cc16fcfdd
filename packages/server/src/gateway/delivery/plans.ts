// How a change reaches the watchers of a target: chosen by how many of them this gateway has. A change is
// one message to each interested gateway, so only the local audience has to be paced.

export interface Plans {
  /** Up to this many watchers a change is marked for all of them at once. */
  pacedAbove: number
  /** Above this, waves share a fixed number of walkers. */
  queuedAbove: number
  /** Above this, a new watcher gets the state and has to ask again; 0 for never. */
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

export function planFor(watchers: number, { pacedAbove, queuedAbove }: Plans): Plan {
  if (watchers <= pacedAbove) return 'instant'
  return watchers > queuedAbove ? 'queued' : 'paced'
}

/** A presence object that says that no changes will follow it. */
export const unpushed = (json: string): string => `${json.slice(0, -1)},"pushed":false}`
