// Forgets a person, everywhere: hot state, what the archive keeps, their place in other people's lists.
// A bare mark stays in the hot store for a minute and keeps reports that are on their way from bringing
// the person back; after it they are somebody nobody has ever heard of. What another process was just
// writing is forgotten in a second round.
import type { Archive } from '../archive/port.ts'
import type { Bus } from '../bus/port.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { PresenceStore } from '../store/port.ts'
import type { Archivist } from './archivist.ts'
import { freshVersion } from './hydrate.ts'
import { inPages } from './in-pages.ts'
import type { Reader } from './reader.ts'
import { emptyRecord, isBare } from './record.ts'
import type { Tracker } from './tracker.ts'
import { Unavailable } from './unavailable.ts'

const MARK_MS = 60_000
const SECOND_ROUND_MS = 10_000
const OWNERS_PER_TURN = 200
/** How often somebody may change under our hands before we give up and say so. */
const ATTEMPTS_MAX = 20

export interface Eraser {
  /** Resolves when nothing of the person is left but the mark. Repeating it does no harm. */
  erase(userId: string): Promise<void>
  stop(): void
}

export interface EraserParts {
  store: PresenceStore
  archive: Archive
  archivist: Archivist
  tracker: Tracker
  reader: Reader
  bus: Bus
  clock: Clock
  logger: Logger
}

/** The bare record in the place of theirs, and the gateways that must hear of it. */
interface Mark {
  userId: string
  version: number
  at: number
  gatewayIds: ReadonlySet<string>
}

export function createEraser(parts: EraserParts): Eraser {
  const { store, archive, archivist, tracker, reader, bus, clock, logger } = parts
  const secondRounds = new Set<Timer>()

  /** Puts the mark in place of the record. */
  async function markErased(userId: string): Promise<Mark> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const [stored] = await store.load([userId])
      const now = clock.now()
      const version = Math.max(freshVersion(now), (stored?.record.version ?? 0) + 1)
      const [result] = await store.commit([
        {
          userId,
          expectedRevision: stored?.revision ?? 0,
          // Who was on their list is a stranger to whoever comes back.
          record: {
            ...emptyRecord(version),
            forgottenAt: now,
            contactsAt: Math.max(now, (stored?.record.contactsAt ?? 0) + 1),
            settledAt: now,
          },
          dueAt: null,
          retainUntil: now + MARK_MS,
        },
      ])
      if (result?.outcome !== 'committed') continue
      const holding = (stored?.record.sessions ?? []).map(({ gatewayId }) => gatewayId)
      const gatewayIds = new Set([...result.interested, ...holding])
      return { userId, version, at: now, gatewayIds }
    }
    throw new Error('the person changes faster than they can be erased')
  }

  function tell({ userId, version, gatewayIds }: Mark): void {
    reader.erase(userId)
    const at = clock.now()
    for (const gatewayId of gatewayIds) bus.publish(gatewayId, [{ kind: 'erased', userId, version, at }])
  }

  /** Other people's allow and deny lists. */
  async function strikeFromLists(userId: string): Promise<void> {
    for await (const owners of inPages(clock, (after, limit) => archive.namedBy(userId, after, limit))) {
      const at = clock.now()
      await Promise.all(owners.map((ownerId) => tracker.apply(ownerId, { type: 'unlist', at, userId })))
    }
  }

  async function forgetArchived(userId: string): Promise<void> {
    const owners: string[] = []
    for await (const ids of inPages(clock, (after, limit) => archive.ownersOf(userId, after, limit)))
      owners.push(...ids.filter((ownerId) => ownerId !== userId))
    await archive.erase(userId)
    // A few at a time: somebody known to many must not keep everybody else's events waiting.
    for (let from = 0; from < owners.length; from += OWNERS_PER_TURN) {
      const at = clock.now()
      const turn = owners.slice(from, from + OWNERS_PER_TURN)
      await Promise.all(turn.map((ownerId) => tracker.apply(ownerId, { type: 'contacts_changed', at })))
    }
  }

  async function secondRound(mark: Mark): Promise<void> {
    const [stored] = await store.load([mark.userId])
    // Whoever came back meanwhile is somebody new.
    if (!stored || !isBare(stored.record) || stored.record.forgottenAt !== mark.at) return
    tell(mark)
    // Contact lists are edited by the app alone: what is on them now was put there since.
    await archive.eraseRows(mark.userId)
  }

  function planSecondRound(mark: Mark): void {
    const timer = clock.after(SECOND_ROUND_MS, () => {
      secondRounds.delete(timer)
      secondRound(mark).catch((error: unknown) =>
        logger.error({ err: error }, 'the second round of an erasure failed; erase the person again'),
      )
    })
    secondRounds.add(timer)
  }

  return {
    async erase(userId) {
      try {
        const mark = await markErased(userId)
        tell(mark)
        // Rows of before that still wait here would be written after they were deleted.
        await archivist.flush()
        await strikeFromLists(userId)
        await forgetArchived(userId)
        planSecondRound(mark)
      } catch (error) {
        throw new Unavailable('the person could not be erased', { cause: error })
      }
    },
    stop() {
      for (const timer of secondRounds) timer.stop()
    },
  }
}
