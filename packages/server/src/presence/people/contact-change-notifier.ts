// The word that a contact list was edited, said until it is committed: an edit that nobody hears of leaves
// people watching somebody who took them off the list. What could not be said waits here, one entry a
// person, and is said again after a pause. Saying it once too often is harmless: whoever hears it only
// reads the list again.
import type { Archive } from '../../archive/port.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Tracker } from '../pipeline/tracker.ts'

const PAUSE_MS = 500
/** A few at a time: somebody known to many must not keep everybody else's events waiting. */
const OWNERS_PER_TURN = 200
/** People whose word waits; past it the word of an erasure is given up, with an error. */
const UNSAID_MAX = 100_000
/** Past it no more lists are edited: the rest is for edits under way and for erasures. */
const UNSAID_ROOMY_MAX = UNSAID_MAX / 2

export interface ContactNews {
  /** Whether a list may be edited: that the word of it will not be given up. */
  hasRoom(): boolean
  /** Says that these lists were edited. Resolves when it is said, or will be said later. */
  say(ownerIds: readonly string[]): Promise<void>
  /** For edits that failed, and may have been written all the same. */
  sayInDoubt(ownerIds: readonly string[]): void
  /** Tries a last time. */
  stop(): Promise<void>
}

export interface ContactNewsParts {
  archive: Archive
  tracker: Tracker
  clock: Clock
  logger: Logger
}

type Why = 'edited' | 'in doubt'

export function createContactNews({ archive, tracker, clock, logger }: ContactNewsParts): ContactNews {
  const unsaid = new Map<string, Why>()
  let timer: Timer | null = null
  let isRepeating = false
  let isFailing = false
  let isFull = false
  let isStopped = false

  function keep(ownerIds: readonly string[], why: Why): void {
    for (const ownerId of ownerIds) {
      const isKept = unsaid.has(ownerId)
      if (isKept ? why === 'edited' : unsaid.size < UNSAID_MAX) unsaid.set(ownerId, why)
      else if (!isKept && !isFull) {
        isFull = true
        logger.error('too many wait to be told of edited contact lists; some are not told')
      }
    }
    repeatLater()
  }

  function repeatLater(): void {
    if (unsaid.size === 0 || isRepeating || isStopped) return
    timer ??= clock.after(PAUSE_MS, () => {
      timer = null
      void repeat()
    })
  }

  /** False when not everybody could be told; those who could not are kept. */
  async function trySaying(ownerIds: readonly string[]): Promise<boolean> {
    const at = clock.now()
    const outcomes = await Promise.allSettled(
      ownerIds.map((ownerId) => tracker.apply(ownerId, { type: 'contacts_changed', at })),
    )
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed === undefined) return true
    if (!isFailing)
      logger.error(
        { err: failed.reason },
        'contact lists were edited and nobody could be told; trying until they are',
      )
    isFailing = true
    const untold = ownerIds.filter((_, index) => outcomes[index]!.status === 'rejected')
    keep(untold, 'edited')
    return false
  }

  /** Taken before it is said: an edit meanwhile is to be said by itself. */
  function takeTurn(): string[] {
    const turn: string[] = []
    for (const [ownerId, why] of unsaid) {
      if (turn.length === OWNERS_PER_TURN) break
      if (why === 'in doubt') continue
      turn.push(ownerId)
      unsaid.delete(ownerId)
    }
    return turn
  }

  async function sayKept(): Promise<void> {
    for (let turn = takeTurn(); turn.length > 0; turn = takeTurn()) if (!(await trySaying(turn))) return
  }

  async function repeat(): Promise<void> {
    isRepeating = true
    await sayKept()
    // While lists cannot be read, whoever hears of an edit that perhaps never was would only lose sight of
    // people. It waits one pause longer than the archive, which may be busy with that very edit.
    if ([...unsaid.values()].includes('in doubt') && (await answers(archive)))
      for (const ownerId of unsaid.keys()) unsaid.set(ownerId, 'edited')
    isRepeating = false
    if (unsaid.size === 0) {
      if (isFailing) logger.info('everybody has been told of the edited contact lists')
      isFailing = false
      isFull = false
    }
    repeatLater()
  }

  return {
    hasRoom: () => unsaid.size < UNSAID_ROOMY_MAX,
    async say(ownerIds) {
      for (let from = 0; from < ownerIds.length; from += OWNERS_PER_TURN) {
        const rest = from + OWNERS_PER_TURN
        if (await trySaying(ownerIds.slice(from, rest))) continue
        return keep(ownerIds.slice(rest), 'edited')
      }
    },
    sayInDoubt: (ownerIds) => keep(ownerIds, 'in doubt'),
    async stop() {
      isStopped = true
      timer?.stop()
      await sayKept()
      if (unsaid.size > 0)
        logger.error({ lists: unsaid.size }, 'stopped before everybody was told of edited contact lists')
    },
  }
}

const answers = (archive: Archive): Promise<boolean> =>
  archive.ping().then(
    () => true,
    () => false,
  )
