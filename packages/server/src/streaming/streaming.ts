// The streaming deployment: topics of Kafka between the processes that hear of users and those that own them. The door
// of this room.
import { CHANGES_TOPIC, DEAD_TOPIC, UPDATES_TOPIC } from '@greendot/protocol'
import type { Bus } from '../bus/port.ts'
import type { ForeignRouting } from '../foreign/routing.ts'
import type { ChangeLog } from '../log/port.ts'
import type { Clock } from '../platform/clock.ts'
import { randomName } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import { createOutages, type Outages } from '../presence/cluster/outages.ts'
import type { Policy } from '../presence/core/policy.ts'
import { createPendingAnswers } from '../presence/pending-answers.ts'
import type { Tracked, Tracker } from '../presence/pipeline/tracker.ts'
import type { ArchiveLookup } from '../presence/reading/archive-lookup.ts'
import { Unavailable } from '../presence/unavailable.ts'
import { AGGREGATORS, type Aggregator, startAggregator } from './aggregator.ts'
import { createDeadLetters } from './dead-letters.ts'
import { ANSWER_MS_MAX, createRemoteTracker } from './remote-tracker.ts'

export interface Streaming {
  createRemoteTracker(lookup: ArchiveLookup): Tracker
  /** This process owns users from now on. */
  startOwner(
    createTracker: (clock: Clock) => Tracker,
    foreign: Pick<ForeignRouting, 'record'>,
  ): Promise<Aggregator>
  /** The store, whose shards settle after outages of Kafka. */
  settling: Outages['settling']
  /** The topic of changes. */
  changes: ChangeLog
  /** Records that the owners have yet to handle, in the whole deployment. */
  updatesLag(): Promise<number>
  /** Records that this process put aside. */
  deadLetters(): number
  close(): Promise<void>
}

export interface StreamingParts {
  policy: Policy
  openTopic(topic: string): Promise<ChangeLog>
  bus: Bus
  clock: Clock
  logger: Logger
  /** How long a shard of the store settles. */
  settleMs: number
  onTrouble(): void
}

export async function openStreaming(parts: StreamingParts): Promise<Streaming> {
  const { policy, openTopic, bus, clock, logger, settleMs, onTrouble } = parts
  const [updates, changes, dead] = await Promise.all(
    [UPDATES_TOPIC, CHANGES_TOPIC, DEAD_TOPIC].map(openTopic),
  )
  const letters = createDeadLetters(dead!, UPDATES_TOPIC, logger)
  const name = randomName('a-')
  // An outage may be noticed only when a wait for an answer ends, so shards settle for that time longer.
  const outages = createOutages(clock, settleMs + ANSWER_MS_MAX)
  const answers = createPendingAnswers<Tracked>(clock, outages.notice)
  const unsubscribe = await bus.subscribe(name, (messages) => {
    for (const message of messages) {
      if (message.kind !== 'answer') continue
      const { ref, answer } = message
      if ('refused' in answer) answers.reject(ref, new Unavailable(answer.refused))
      else answers.resolve(ref, answer)
    }
  })

  return {
    settling: outages.settling,
    changes: changes!,
    updatesLag: () => updates!.lag(AGGREGATORS),
    deadLetters: letters.count,
    createRemoteTracker: (lookup) =>
      createRemoteTracker({
        name,
        updates: updates!,
        answers,
        outages,
        lookup,
        policy,
        clock,
        logger,
        onTrouble,
      }),
    startOwner: (createTracker, foreign) =>
      startAggregator({
        updates: updates!,
        dead: letters,
        bus,
        outages,
        foreign,
        createTracker,
        clock,
        logger,
      }),
    async close() {
      answers.stop()
      unsubscribe()
      await Promise.all([updates, changes, dead].map((log) => log!.close()))
    },
  }
}
