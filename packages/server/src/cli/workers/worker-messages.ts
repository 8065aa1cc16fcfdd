// What a worker and its supervisor say to each other, over the channel that the runtime opens between them.
import type { Family } from '../../ops/exposition.ts'

/** Set to the number of the worker. Another program that starts a server may have a channel to it too, and say other things. */
export const SUPERVISED = 'SUPERVISED_BY_GREENDOT'

export type FromWorker =
  /** This worker was scraped, and wants the figures of all. */
  | { kind: 'scrape'; id: number }
  /** The figures of this worker. */
  | { kind: 'collected'; id: number; families: Family[] }

export type ToWorker =
  /** The figures of this worker are wanted. */
  { kind: 'collect'; id: number } | { kind: 'scraped'; id: number; families: Family[] }
