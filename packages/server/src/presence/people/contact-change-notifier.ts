// Notifies gateways that contact lists were edited, until it is committed: an edit that no gateway hears of
// leaves viewers watching users who took them off the list. What could not be committed waits here, one
// entry a user, and is tried again. A notice too many is harmless: the list is only read again.
import type { Archive } from '../../archive/port.ts'
import { chunksOf } from '../../platform/chunks.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Tracker } from '../pipeline/tracker.ts'

const PAUSE_MS = 500
/** A few at a time, so that a user on many lists does not keep the events of all others waiting. */
const OWNERS_PER_TURN = 200
/** Lists whose notice waits; past it the notice of an erasure is dropped, with an error. */
const WAITING_MAX = 100_000
/** Past it no more lists are edited: the rest is for edits under way and for erasures. */
const WAITING_ROOMY_MAX = WAITING_MAX / 2

export interface ContactChangeNotifier {
  /** Whether a list may be edited, because its notice will not be dropped. */
  hasRoom(): boolean
  /** These lists were edited. Resolves when the notice is committed, or will be tried again. */
  notify(ownerIds: readonly string[]): Promise<void>
  /** These edits failed and may have been written all the same. */
  notifyIfEdited(ownerIds: readonly string[]): void
  /** Tries a last time. */
  stop(): Promise<void>
}

export interface ContactChangeNotifierParts {
  archive: Archive
  tracker: Tracker
  clock: Clock
  logger: Logger
}

type Certainty = 'edited' | 'maybe edited'

export function createContactChangeNotifier(parts: ContactChangeNotifierParts): ContactChangeNotifier {
  const { archive, tracker, clock, logger } = parts
  const waiting = new Map<string, Certainty>()
  let timer: Timer | null = null
  let isRepeating = false
  let isFailing = false
  let isFull = false
  let isStopped = false

  function keep(ownerIds: readonly string[], certainty: Certainty): void {
    for (const ownerId of ownerIds) {
      const isKept = waiting.has(ownerId)
      if (isKept ? certainty === 'edited' : waiting.size < WAITING_MAX) waiting.set(ownerId, certainty)
      else if (!isKept && !isFull) {
        isFull = true
        logger.error('too many notices of edited contact lists wait; some are dropped')
      }
    }
    repeatLater()
  }

  function repeatLater(): void {
    if (waiting.size === 0 || isRepeating || isStopped) return
    timer ??= clock.after(PAUSE_MS, () => {
      timer = null
      void repeat()
    })
  }

  /** False when not all could be committed; those that could not are kept. */
  async function commit(ownerIds: readonly string[]): Promise<boolean> {
    const at = clock.now()
    const outcomes = await Promise.allSettled(
      ownerIds.map((ownerId) => tracker.apply(ownerId, { type: 'contacts_changed', at })),
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed === undefined) return true
    if (!isFailing)
      logger.error(
        { err: failed.reason },
        'notices of edited contact lists could not be committed; trying again',
      )
    isFailing = true
    keep(
      ownerIds.filter((_, index) => outcomes[index]!.status === 'rejected'),
      'edited',
    )
    return false
  }

  /** Taken out first: an edit meanwhile needs a notice of its own. */
  function takeTurn(): string[] {
    const turn: string[] = []
    for (const [ownerId, certainty] of waiting) {
      if (turn.length === OWNERS_PER_TURN) break
      if (certainty === 'maybe edited') continue
      turn.push(ownerId)
      waiting.delete(ownerId)
    }
    return turn
  }

  async function commitKept(): Promise<void> {
    for (let turn = takeTurn(); turn.length > 0; turn = takeTurn()) if (!(await commit(turn))) return
  }

  async function repeat(): Promise<void> {
    isRepeating = true
    await commitKept()
    // While lists cannot be read, a notice of an edit that perhaps never was would only hide users from their
    // contacts. So it waits one pause longer than the archive, which may be busy with that very edit.
    if ([...waiting.values()].includes('maybe edited') && (await answers(archive)))
      for (const ownerId of waiting.keys()) waiting.set(ownerId, 'edited')
    isRepeating = false
    if (waiting.size === 0) {
      if (isFailing) logger.info('all notices of edited contact lists are committed')
      isFailing = false
      isFull = false
    }
    repeatLater()
  }

  return {
    hasRoom: () => waiting.size < WAITING_ROOMY_MAX,
    async notify(ownerIds) {
      const turns = [...chunksOf(ownerIds, OWNERS_PER_TURN)]
      for (const [index, turn] of turns.entries())
        if (!(await commit(turn))) return keep(turns.slice(index + 1).flat(), 'edited')
    },
    notifyIfEdited: (ownerIds) => keep(ownerIds, 'maybe edited'),
    async stop() {
      isStopped = true
      timer?.stop()
      await commitKept()
      if (waiting.size > 0)
        logger.error(
          { lists: waiting.size },
          'stopped before all notices of edited contact lists were committed',
        )
    },
  }
}

const answers = (archive: Archive): Promise<boolean> =>
  archive.ping().then(
    () => true,
    () => false,
  )
