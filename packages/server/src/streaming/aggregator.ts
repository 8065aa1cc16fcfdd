// The owner of users: consumes the updates of its partitions and is the only process that steps these users. An offset
// is kept after the state is stored and announced, so a process that dies hands its last updates to the next owner.
// Those may be applied twice, and change nothing then: events carry instants. Each partition has a tracker of its own,
// on a clock that does not run ahead of the partition.
import type { Bus } from '../bus/port.ts'
import type { ForeignBatch } from '../foreign/batch.ts'
import type { ForeignRouting } from '../foreign/routing.ts'
import type { ChangeLog, Consumption, LogEntry } from '../log/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Outages } from '../presence/cluster/outages.ts'
import type { Tracked, Tracker } from '../presence/pipeline/tracker.ts'
import { Refused } from '../presence/unavailable.ts'
import type { DeadLetters } from './dead-letters.ts'
import { toBatches } from './foreign-records.ts'
import { createLogClock, type LogClock } from './log-clock.ts'
import { type ForeignRecord, readUpdate, type Update } from './update-record.ts'

/** All aggregators share the partitions under this name. */
export const AGGREGATORS = 'greendot-aggregators'

/**
 * A tick that waited for longer is dropped, and the sweeper sends another. It may have got into the log after Kafka was
 * away, before the updates that gateways could not append meanwhile: users who came back would be shown offline.
 */
const TICK_MS_MAX = 2_000

export interface Aggregator {
  partitions(): readonly number[]
  stop(): Promise<void>
}

export interface AggregatorParts {
  updates: ChangeLog
  dead: DeadLetters
  bus: Bus
  outages: Pick<Outages, 'begin' | 'end'>
  /** Takes what foreign gateways say. */
  foreign: Pick<ForeignRouting, 'record'>
  createTracker(clock: Clock): Tracker
  clock: Clock
  logger: Logger
}

interface Owned {
  clock: LogClock
  tracker: Tracker
}

export async function startAggregator(parts: AggregatorParts): Promise<Aggregator> {
  const { updates, dead, bus, outages, foreign, createTracker, clock, logger } = parts
  const owned = new Map<number, Owned>()

  function ownedOf(partition: number): Owned {
    let found = owned.get(partition)
    if (found === undefined) {
      const own = createLogClock(clock)
      found = { clock: own, tracker: createTracker(own) }
      owned.set(partition, found)
    }
    return found
  }

  /** Resolves when the update is stored, or refused; rejects when it must be tried again. */
  async function handle(tracker: Tracker, { userId, from, events, isRepeated, ref }: Update): Promise<void> {
    if (isRepeated) tracker.repeat(userId)
    const applied = tracker.apply(userId, ...events)
    const answer = await applied.catch((error: unknown) => {
      if (error instanceof Refused) return { refused: error.message }
      throw error
    })
    if (ref !== null) await tell(from, userId, ref, answer)
  }

  // What is refused is out of date, or was disconnected by the app. Without a holder the partition must not stop:
  // sessions that live are reported again, and the others end by their time to live.
  const report = (batch: ForeignBatch): Promise<void> =>
    foreign.record(batch).then(
      () => {},
      (error: unknown) => logger.warn({ err: error }, 'sessions of a foreign gateway were not recorded'),
    )

  const tell = (to: string, userId: string, ref: string, answer: Tracked | { refused: string }) =>
    bus.publish(to, [{ kind: 'answer', userId, ref, answer }])

  const isStaleTick = ({ events, ref, sentAt }: Update): boolean =>
    ref === null && clock.now() - sentAt > TICK_MS_MAX && events.every(({ type }) => type === 'tick')

  async function handleAll(partition: number, entries: readonly LogEntry[]): Promise<void> {
    const { clock: own, tracker } = ownedOf(partition)
    const readable: Update[] = []
    const reported: ForeignRecord[] = []
    const work: Promise<void>[] = []
    for (const entry of entries) {
      const read = readUpdate(entry)
      if (read.kind === 'update') readable.push(read.update)
      else if (read.kind === 'foreign') reported.push(read.record)
      else work.push(dead.put(partition, entry, read.reason))
    }
    const newest = readable.at(-1)
    if (newest !== undefined) own.follow(newest.sentAt)
    for (const update of readable) if (!isStaleTick(update)) work.push(handle(tracker, update))
    for (const batch of toBatches(reported)) work.push(report(batch))
    const failed = (await Promise.allSettled(work)).find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  const consumption: Consumption = await updates.consume(AGGREGATORS, 'oldest', {
    handle: handleAll,
    onAssigned(partitions) {
      outages.end()
      logger.info({ partitions }, 'partitions taken over')
    },
    onRevoked(partitions) {
      outages.begin()
      for (const partition of partitions) owned.delete(partition)
      logger.info({ partitions }, 'partitions handed over')
    },
  })

  return {
    partitions: consumption.partitions,
    async stop() {
      await consumption.stop()
      await Promise.all([...owned.values()].map(({ tracker }) => tracker.flush()))
    },
  }
}
