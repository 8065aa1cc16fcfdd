// One erasure: removes a user from the hot store, the archive and the lists of other users. A bare record, the
// mark, replaces the user's in the hot store until a minute after the end, so that late reports do not bring the
// user back; after that the user is unknown. Rows that another process wrote meanwhile are erased in a second
// round. Every step may be repeated: an erasure that failed anywhere is run again from its first step.
import type { Archive } from '../../archive/port.ts'
import type { Bus } from '../../bus/port.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { CommitResult, PresenceStore, Stored } from '../../store/port.ts'
import { emptyRecord, isBare, type UserRecord } from '../core/record.ts'
import { freshVersion } from '../core/version.ts'
import type { Archivist } from '../pipeline/archivist.ts'
import type { QueryCache } from '../reading/query-cache.ts'
import type { Choices } from './choices.ts'
import type { ContactChangeNotifier } from './contact-change-notifier.ts'
import { inPages } from './in-pages.ts'

const MARK_MS = 60_000
/** While it is unfinished: the mark hides the user in the hot store. */
const UNFINISHED_MARK_MS = 86_400_000
const SECOND_ROUND_MS = 10_000
/** Conflicts in a row before the erasure is given up. */
const ATTEMPTS_MAX = 20

export interface Erasure {
  /** Fails when a part that has to take part does not answer. Changes nothing. */
  check(userId: string): Promise<void>
  /** Resolves when only the mark is left. `begunAt` is what the archive was told as the beginning. */
  run(userId: string, begunAt: number): Promise<void>
  stop(): void
}

export interface ErasureParts {
  store: PresenceStore
  archive: Archive
  archivist: Archivist
  choices: Choices
  notifier: ContactChangeNotifier
  cache: QueryCache
  bus: Bus
  clock: Clock
  logger: Logger
}

/** The bare record that replaces the user's, and the gateways to notify. */
interface Mark {
  userId: string
  record: UserRecord
  revision: number
  at: number
  gatewayIds: ReadonlySet<string>
}

export function createErasure(parts: ErasureParts): Erasure {
  const { store, archive, archivist, choices, notifier, cache, bus, clock, logger } = parts
  const secondRounds = new Set<Timer>()
  let isStopped = false

  /** Puts the mark in place of the record. */
  async function markErased(userId: string): Promise<Mark> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const [stored] = await store.load([userId])
      const now = clock.now()
      const version = Math.max(freshVersion(now), (stored?.record.version ?? 0) + 1)
      // A new edition: no contact of before is a contact of a user who comes back under this id.
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
    throw new Error(`gave up after ${ATTEMPTS_MAX} conflicts`)
  }

  async function commitMark(
    userId: string,
    record: UserRecord,
    expectedRevision: number,
    retainUntil: number,
  ): Promise<CommitResult> {
    const [result] = await store.commit([{ userId, expectedRevision, record, dueAt: null, retainUntil }])
    return result!
  }

  /** The gateways that may hold connections of the user. */
  async function holding(stored: Stored | null): Promise<string[]> {
    if (stored === null) return []
    // The process that set an earlier mark may have died before it notified the gateways.
    if (isBare(stored.record)) return store.liveLeases(clock.now())
    return stored.record.sessions.map(({ gatewayId }) => gatewayId)
  }

  function notifyGateways({ userId, record: { version }, gatewayIds }: Mark): void {
    cache.forget(userId)
    const at = clock.now()
    for (const gatewayId of gatewayIds) bus.publish(gatewayId, [{ kind: 'erased', userId, version, at }])
  }

  /** From the allow and deny lists of other users. */
  async function strikeFromLists(userId: string): Promise<void> {
    for await (const owners of inPages(clock, (after, limit) => archive.namedBy(userId, after, limit))) {
      const at = clock.now()
      await Promise.all(owners.map((ownerId) => choices.apply(ownerId, { type: 'unlist', at, userId })))
    }
  }

  async function eraseArchived(userId: string): Promise<void> {
    const owners: string[] = []
    for await (const ids of inPages(clock, (after, limit) => archive.ownersOfErased(userId, after, limit)))
      owners.push(...ids.filter((ownerId) => ownerId !== userId))
    try {
      await archive.erase(userId)
    } catch (error) {
      // It may be done, and then the owners of the lists cannot be found any more.
      notifier.notifyIfEdited(owners)
      throw error
    }
    await notifier.notify(owners)
  }

  async function secondRound(mark: Mark): Promise<void> {
    const [stored] = await store.load([mark.userId])
    if (!stored) {
      // The user may have come back and left since.
      logger.error('the second round of an erasure came too late; erase the user again')
      return
    }
    // A user who came back meanwhile is a new user.
    if (!isBare(stored.record) || stored.record.forgottenAt !== mark.at) return
    notifyGateways(mark)
    // Contact lists are edited by the app only, so their present entries were added since.
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

  return {
    async check(userId) {
      await Promise.all([archive.ping(), store.load([userId])])
    },
    async run(userId, begunAt) {
      const mark = await markErased(userId)
      notifyGateways(mark)
      // Rows that still wait here would be written after the erasure.
      await archivist.flush()
      archivist.forget(userId)
      await strikeFromLists(userId)
      await eraseArchived(userId)
      // Before the mark may go: until here the archive hides what is left.
      await archive.endErasure(userId, begunAt)
      await commitMark(userId, mark.record, mark.revision, clock.now() + MARK_MS)
      planSecondRound(mark)
    },
    stop() {
      isStopped = true
      for (const timer of secondRounds) timer.stop()
    },
  }
}
