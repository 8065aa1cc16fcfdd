// The tracker of a process that does not own users: it puts what happened into the log, where the owner of the user
// finds it, and waits for the owner's answer. Updates of one turn go together, one append is under way at a time, so the
// updates of a user keep their order. What cannot be appended is refused and reported, and gateways announce again.
import type { ChangeLog } from '../log/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { createRecentMap } from '../platform/recent-map.ts'
import type { Outages } from '../presence/cluster/outages.ts'
import type { PresenceEvent } from '../presence/core/event.ts'
import type { PendingAnswers } from '../presence/pending-answers.ts'
import { type ArchiveOnlyParts, applyByArchive } from '../presence/pipeline/archive-only.ts'
import type { Tracked, Tracker } from '../presence/pipeline/tracker.ts'
import { Unavailable } from '../presence/unavailable.ts'
import { encodeUpdate, type Update } from './update-record.ts'

const UPDATES_PER_APPEND = 1_000
/** Updates that wait to be appended. Past it they are refused. */
const QUEUED_MAX = 100_000
/** A sweeper finds the same users again until the owner has handled them. */
const ASKED_AGAIN_MS = 2_000
const ASKED_MAX = 100_000
const TRY_AGAIN_MS = 1_000
/** After this time without an answer a caller is told to try again. */
export const ANSWER_MS_MAX = 5_000
/** A user that connects is welcomed without the answer: the record stays in the log and takes effect later. */
const ARRIVAL_MS_MAX = 2_000

const isArrival = (event: PresenceEvent): boolean => event.type === 'connected' && event.again === undefined

export interface RemoteTrackerParts extends ArchiveOnlyParts {
  /** The name under which answers come. */
  name: string
  updates: ChangeLog
  answers: PendingAnswers<Tracked>
  outages: Pick<Outages, 'begin' | 'end'>
  clock: Clock
  logger: Logger
  onTrouble?: (() => void) | undefined
}

export function createRemoteTracker(parts: RemoteTrackerParts): Tracker {
  const { name, updates, answers, outages, clock, logger, onTrouble } = parts
  const queue: Update[] = []
  let appending: Promise<void> | null = null
  let isFailing = false
  let failedAt = 0
  /** Users that were asked to tick or to repeat lately. */
  const asked = createRecentMap<number>(ASKED_MAX, ASKED_AGAIN_MS)

  function put(
    userId: string,
    events: readonly PresenceEvent[],
    { isRepeated = false, ref = null }: { isRepeated?: boolean; ref?: string | null } = {},
  ): void {
    if (queue.length >= QUEUED_MAX) {
      if (ref !== null) answers.reject(ref, new Unavailable('too many updates wait for the log'))
      onTrouble?.()
      return
    }
    queue.push({ userId, from: name, events, isRepeated, ref, sentAt: clock.now() })
    appending ??= clock.nextTurn().then(appendAll)
  }

  async function appendAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, UPDATES_PER_APPEND)
      try {
        await updates.append(batch.map((update) => ({ userId: update.userId, text: encodeUpdate(update) })))
        isFailing = false
        outages.end()
      } catch (error) {
        fail(batch, error)
      }
    }
    appending = null
  }

  function fail(batch: readonly Update[], error: unknown): void {
    if (!isFailing) logger.error({ err: error, updates: batch.length }, 'updates cannot be put into the log')
    isFailing = true
    failedAt = clock.now()
    outages.begin()
    const failure = new Unavailable('the log does not answer', { cause: error })
    for (const { ref } of batch) if (ref !== null) answers.reject(ref, failure)
    onTrouble?.()
  }

  function isAskedAgain(what: string, userId: string): boolean {
    const now = clock.now()
    const key = `${what} ${userId}`
    if ((asked.get(key) ?? 0) > now) return true
    asked.set(key, now + ASKED_AGAIN_MS, now)
    return false
  }

  function apply(userId: string, ...events: PresenceEvent[]): Promise<Tracked> {
    const { ref, answer } = answers.wait(events.some(isArrival) ? ARRIVAL_MS_MAX : ANSWER_MS_MAX)
    put(userId, events, { ref })
    return answer
  }

  return {
    report(userId, event) {
      if (event.type !== 'tick' || !isAskedAgain('tick', userId)) put(userId, [event])
    },
    apply,
    // The owner asks the archive, which has the choice already. So that it counts as a change all the same, the state
    // gets a version above the one from before.
    applyTo: ({ record }, userId, ...events) =>
      apply(userId, ...events, { type: 'raise_version', version: record.version }),
    repeat(userId) {
      if (!isAskedAgain('repeat', userId)) put(userId, [{ type: 'tick' }], { isRepeated: true })
    },
    applyWithoutStore: (userId, event) => applyByArchive(parts, userId, event),
    catchUp: async () => appending ?? undefined,
    async flush() {
      while (appending !== null || answers.count() > 0) {
        await appending
        await answers.whenAllAnswered()
      }
    },
    depth: () => queue.length + answers.count(),
    // After a failure choices are refused for a second. The next ones show whether updates get through again.
    isReachable: () => !isFailing || clock.now() - failedAt >= TRY_AGAIN_MS,
  }
}
