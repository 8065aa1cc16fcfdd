// Forgets a person, everywhere: hot state, what the archive keeps, their place in other people's lists.
// A bare mark stays in the hot store for a minute and keeps reports that are on their way from bringing
// the person back; after it they are somebody nobody has ever heard of. What another process was just
// writing is forgotten in a second round. An erasure that has begun is never undone: the mark stays until
// the archive has forgotten them too, and what could not be finished is tried again until it is.
import type { Archive } from '../../archive/port.ts'
import type { Bus } from '../../bus/port.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { CommitResult, PresenceStore, Stored } from '../../store/port.ts'
import { emptyRecord, isBare, type UserRecord } from '../core/record.ts'
import type { Archivist } from '../pipeline/archivist.ts'
import type { Tracker } from '../pipeline/tracker.ts'
import { freshVersion } from '../reading/archived-user.ts'
import type { QueryCache } from '../reading/query-cache.ts'
import { Unavailable } from '../unavailable.ts'
import type { ContactChangeNotifier } from './contact-change-notifier.ts'
import { inPages } from './in-pages.ts'

const MARK_MS = 60_000
/** Until the archive has forgotten them: the mark is all that hides what it still holds. */
const UNFINISHED_MARK_MS = 86_400_000
const SECOND_ROUND_MS = 10_000
const FINISH_PAUSE_MS = 1_000
/** Erasures that have begun and could not be finished; past it none is begun. */
const UNFINISHED_MAX = 10_000
const NOT_BEGUN = 'nothing was erased; try again soon'
const BEGUN = 'the erasure has begun and goes on by itself; repeat the request until it is answered with 204'
/** How often somebody may change under our hands before we give up and say so. */
const ATTEMPTS_MAX = 20

export interface Eraser {
  /**
   * Resolves when nothing of the person is left but the mark. Repeating it does no harm, and finishes what a
   * process that died has begun.
   */
  erase(userId: string): Promise<void>
  stop(): void
}

export interface EraserParts {
  store: PresenceStore
  archive: Archive
  archivist: Archivist
  tracker: Tracker
  notifier: ContactChangeNotifier
  cache: QueryCache
  bus: Bus
  clock: Clock
  logger: Logger
}

/** The bare record in the place of theirs, and the gateways that must hear of it. */
interface Mark {
  userId: string
  record: UserRecord
  revision: number
  at: number
  gatewayIds: ReadonlySet<string>
}

export function createEraser(parts: EraserParts): Eraser {
  const { store, archive, archivist, tracker, notifier, cache, bus, clock, logger } = parts
  const secondRounds = new Set<Timer>()
  const unfinished = new Set<string>()
  let finishing: Timer | null = null
  let isStopped = false

  /** Puts the mark in place of the record. */
  async function markErased(userId: string): Promise<Mark> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const [stored] = await store.load([userId])
      const now = clock.now()
      const version = Math.max(freshVersion(now), (stored?.record.version ?? 0) + 1)
      // Who was on their list is a stranger to whoever comes back.
      const record: UserRecord = {
        ...emptyRecord(version),
        forgottenAt: now,
        contactsAt: Math.max(now, (stored?.record.contactsAt ?? 0) + 1),
        settledAt: now,
      }
      const holders = await holding(stored ?? null)
      const result = await commitMark(userId, record, stored?.revision ?? 0, now + UNFINISHED_MARK_MS)
      if (result.outcome !== 'committed') continue
      const gatewayIds = new Set([...result.interested, ...holders])
      return { userId, record, revision: result.revision, at: now, gatewayIds }
    }
    throw new Error('the person changes faster than they can be erased')
  }

  async function commitMark(
    userId: string,
    record: UserRecord,
    expectedRevision: number,
    retainUntil: number,
  ): Promise<CommitResult> {
    try {
      const [result] = await store.commit([{ userId, expectedRevision, record, dueAt: null, retainUntil }])
      return result!
    } catch (error) {
      // The mark may be set: only the answer was lost.
      finishLater(userId, error)
      throw error
    }
  }

  /** The gateways that may hold connections of theirs. */
  async function holding(stored: Stored | null): Promise<string[]> {
    if (stored === null) return []
    // Whoever set a mark that is there already may not have lived to tell anybody.
    if (isBare(stored.record)) return store.liveLeases(clock.now())
    return stored.record.sessions.map(({ gatewayId }) => gatewayId)
  }

  function tell({ userId, record: { version }, gatewayIds }: Mark): void {
    cache.forget(userId)
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
    try {
      await archive.erase(userId)
    } catch (error) {
      // It may be done, and then nobody could say any more whose lists they were on.
      notifier.notifyIfEdited(owners)
      throw error
    }
    await notifier.notify(owners)
  }

  async function secondRound(mark: Mark): Promise<void> {
    const [stored] = await store.load([mark.userId])
    if (!stored) {
      // They may have come back and left since.
      logger.error('the second round of an erasure came too late; erase the person again')
      return
    }
    // Whoever came back meanwhile is somebody new.
    if (!isBare(stored.record) || stored.record.forgottenAt !== mark.at) return
    tell(mark)
    // Contact lists are edited by the app alone: what is on them now was put there since.
    await archive.eraseRows(mark.userId)
  }

  function planSecondRound(mark: Mark): void {
    if (isStopped) return
    const timer = clock.after(SECOND_ROUND_MS, () => {
      secondRounds.delete(timer)
      secondRound(mark).catch((error: unknown) => {
        logger.error({ err: error }, 'the second round of an erasure failed; it is tried again')
        planSecondRound(mark)
      })
    })
    secondRounds.add(timer)
  }

  async function run(userId: string): Promise<void> {
    const mark = await markErased(userId)
    try {
      tell(mark)
      // Rows of before that still wait here would be written after they were deleted.
      await archivist.flush()
      await strikeFromLists(userId)
      await forgetArchived(userId)
    } catch (error) {
      finishLater(userId, error)
      throw error
    }
    await commitMark(userId, mark.record, mark.revision, clock.now() + MARK_MS)
    unfinished.delete(userId)
    planSecondRound(mark)
  }

  function finishLater(userId: string, error: unknown): void {
    if (unfinished.size === 0)
      logger.error({ err: error }, 'an erasure could not be finished; trying until it is')
    unfinished.add(userId)
    planFinishing()
  }

  function planFinishing(): void {
    if (isStopped || unfinished.size === 0) return
    finishing ??= clock.after(FINISH_PAUSE_MS, () => void finish())
  }

  async function finish(): Promise<void> {
    for (const userId of [...unfinished]) {
      // Somebody may have asked for it again, and had it done.
      if (isStopped || !unfinished.has(userId)) continue
      try {
        await archive.ping()
        await run(userId)
      } catch {
        // To the end of the line: one that fails for a reason of its own does not hold up the others.
        if (unfinished.delete(userId)) unfinished.add(userId)
        break
      }
    }
    if (unfinished.size === 0) logger.info('all erasures that had begun are finished')
    finishing = null
    planFinishing()
  }

  return {
    async erase(userId) {
      try {
        if (unfinished.size >= UNFINISHED_MAX && !unfinished.has(userId))
          throw new Error('too many erasures wait to be finished')
        // Without the archive the mark alone would be set.
        await archive.ping()
        await run(userId)
      } catch (error) {
        const advice = unfinished.has(userId) ? BEGUN : NOT_BEGUN
        throw new Unavailable('the person could not be erased', { cause: error, advice })
      }
    },
    stop() {
      isStopped = true
      finishing?.stop()
      for (const timer of secondRounds) timer.stop()
      if (unfinished.size > 0)
        logger.error({ people: unfinished.size }, 'stopped before erasures were finished; ask for them again')
    },
  }
}
