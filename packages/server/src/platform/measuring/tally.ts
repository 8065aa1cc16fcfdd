// Counters for hot paths: plain numbers that are incremented in place, and histograms. Metrics and stats read
// them.
import { createHistogram, type Histogram } from './histogram.ts'
import { createLabelledCount, type LabelledCount } from './labelled-count.ts'
import { createRecentWaits, type RecentWaits } from './recent-waits.ts'

/** Ten seconds is the longest that a change may take under overload (W8). */
const PROPAGATION_BOUNDS_MS = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]
const BATCH_BOUNDS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000]
const LOOP_BOUNDS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000]
const REQUEST_BOUNDS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000]

export interface Tally {
  connectionsOpened: number
  connectionsClosed: number
  framesIn: number
  heartbeats: number
  framesOut: number
  /** Changes in sent frames: one change to one watcher is one delivery. */
  deliveries: number
  /** Visible changes of users that this process decided. */
  changes: number
  errorsSent: number
  sessionsLost: number
  /** Times that a connection took no more data. */
  slowReaderBlocks: number
  /** Streams over gRPC that ended because too much waited to be read. */
  slowReadersEnded: number
  /** Spans of traces that the collector took, and those that it did not. */
  spansExported: number
  spansDropped: number
  /** Requests to webhooks, by their end. */
  webhooksDelivered: number
  webhooksFailed: number
  /** Batches of foreign gateways that came to this process, and their entries. */
  foreignBatches: number
  foreignEntries: number
  /** Times that a holder of foreign sessions did not answer and another one was asked. */
  foreignHoldersPassedOver: number
  /** The longest time the event loop was blocked since the last read. */
  loopBlockMsMax: number
  /** From a change of a user to each frame that has it. What a viewer is shown for another reason is not in it. */
  propagation: Histogram
  /** The same, of the last minutes. */
  recentWaits: RecentWaits
  /** From the start of a batch of users to its commit. */
  batches: Histogram
  loopDelays: Histogram
  requests: Histogram
  /** By status. */
  responses: LabelledCount
  /** By reason. */
  tokensRefused: LabelledCount
  /** By the limit that was passed. */
  rateLimited: LabelledCount
  /** Entries of foreign gateways that were refused, by the error code. */
  foreignRejections: LabelledCount
  /** By what was announced again: the whole gateway, or shards that lost their memory. */
  resyncs: LabelledCount
}

export function createTally(): Tally {
  return {
    connectionsOpened: 0,
    connectionsClosed: 0,
    framesIn: 0,
    heartbeats: 0,
    framesOut: 0,
    deliveries: 0,
    changes: 0,
    errorsSent: 0,
    sessionsLost: 0,
    slowReaderBlocks: 0,
    slowReadersEnded: 0,
    spansExported: 0,
    spansDropped: 0,
    webhooksDelivered: 0,
    webhooksFailed: 0,
    foreignBatches: 0,
    foreignEntries: 0,
    foreignHoldersPassedOver: 0,
    loopBlockMsMax: 0,
    propagation: createHistogram(PROPAGATION_BOUNDS_MS),
    recentWaits: createRecentWaits(),
    batches: createHistogram(BATCH_BOUNDS_MS),
    loopDelays: createHistogram(LOOP_BOUNDS_MS),
    requests: createHistogram(REQUEST_BOUNDS_MS),
    responses: createLabelledCount(),
    tokensRefused: createLabelledCount(),
    rateLimited: createLabelledCount(),
    foreignRejections: createLabelledCount(),
    resyncs: createLabelledCount(),
  }
}
