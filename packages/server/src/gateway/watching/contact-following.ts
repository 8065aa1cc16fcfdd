// Connections that watch their user's contact list, whatever is on it. When the list is edited it is
// read again: people who are new on it are watched and told of, people who left it are forgotten. The
// client hears version 0 of those, because from then on nothing more will come.
import type { Failure } from '@greendot/protocol'
import type { Archive } from '../../archive/port.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import { unknownPresence } from '../../presence/core/view.ts'
import { FOLLOWED } from '../delivery/edge-flags.ts'
import { CHANGE_FRAME_START, FRAME_LIST_END } from '../delivery/target-table.ts'
import { stateFrames, watchLimitFailure } from './state-frames.ts'
import type { Watches } from './watches.ts'

const READ_AGAIN_MS = 1_000
/** People of a list that are watched or forgotten in one turn of the loop. */
const AT_ONCE_MAX = 500
/** Lists that are read at a time after messages were missed. */
const READERS = 8

export interface Following {
  /** Watches the list and follows it from now on. */
  follow(connection: number, isOpen: () => boolean): Promise<Failure | null>
  /** The list of the user behind these was edited at that instant, unless that is known already. */
  edited(connections: Iterable<number>, contactsAt: number): void
  /** Lists may have been edited without our hearing of it. */
  refresh(): void
  /** The connection ended. */
  clear(connection: number): void
}

export interface FollowingParts {
  archive: Archive
  watches: Watches
  watchLimit: number
  rules: PrivacyRules
  clock: Clock
  logger: Logger
  ownerIdOf(connection: number): string
  send(connection: number, frame: string): void
}

interface Follower {
  /** The newest edition of the list that was or is being read. */
  contactsAt: number
  isOpen(): boolean
  isReading: boolean
  /** Edited again while it was read. */
  isStale: boolean
}

export function createFollowing(parts: FollowingParts): Following {
  const { archive, watches, watchLimit, rules, clock, logger, ownerIdOf, send } = parts
  const followers = new Map<number, Follower>()
  const soon = () => new Promise<void>((resolve) => clock.soon(resolve))

  /** Brings what is watched to what is listed, and returns what the client is to be told of the new. */
  async function catchUp(connection: number, follower: Follower): Promise<Failure | string[]> {
    // One more than fits is enough to know that it does not.
    const contacts = await archive.contactsOf(ownerIdOf(connection), watchLimit + 1)
    const pause = contacts.length > AT_ONCE_MAX ? soon : () => null
    await pause()
    // Whoever asked once more meanwhile has a reading of their own, and it is newer.
    if (!follower.isOpen() || followers.get(connection) !== follower) return []
    // Before anything changes: a list that does not fit is not followed in part.
    const named = new Set(watches.named(connection))
    const total = contacts.reduce((sum, userId) => (named.has(userId) ? sum : sum + 1), named.size)
    if (total > watchLimit) return watchLimitFailure(total, watchLimit)
    const followed = new Set(watches.followed(connection))
    await pause()
    await forgetThose(connection, follower, await without(followed, contacts, pause))
    return watchThose(
      connection,
      follower,
      contacts.filter((userId) => !followed.has(userId)),
    )
  }

  /** Who of these is not listed. */
  async function without(
    followed: ReadonlySet<string>,
    contacts: readonly string[],
    pause: () => unknown,
  ): Promise<string[]> {
    if (followed.size === 0) return []
    const listed = new Set(contacts)
    await pause()
    return [...followed].filter((userId) => !listed.has(userId))
  }

  const isOurs = (connection: number, follower: Follower) =>
    follower.isOpen() && followers.get(connection) === follower

  async function forgetThose(connection: number, follower: Follower, gone: readonly string[]): Promise<void> {
    for (const some of slicesOf(gone)) {
      if (!isOurs(connection, follower)) return
      const dropped = watches.unfollow(connection, some)
      if (dropped.length > 0) send(connection, forgotten(dropped))
      if (gone.length > AT_ONCE_MAX) await soon()
    }
  }

  function forgotten(userIds: readonly string[]): string {
    const unknown = userIds.map((userId) => JSON.stringify(unknownPresence(userId, rules.hiddenAs)))
    return CHANGE_FRAME_START + unknown.join(',') + FRAME_LIST_END
  }

  /** All but the last of them are told at once, before anything that happens to them is. */
  async function watchThose(
    connection: number,
    follower: Follower,
    added: readonly string[],
  ): Promise<string[]> {
    const { isOpen } = follower
    let states: string[] = []
    let watched = 0
    try {
      for (const some of slicesOf(added)) {
        if (states.length > 0) tell(connection, states)
        if (added.length > AT_ONCE_MAX) await soon()
        if (!isOurs(connection, follower)) return []
        states = (await watches.watch(connection, some, { known: {}, why: FOLLOWED, isOpen })) ?? []
        watched += some.length
      }
      return states
    } catch (error) {
      // Not followed in part.
      await forgetThose(connection, follower, added.slice(0, watched))
      throw error
    }
  }

  function tell(connection: number, states: readonly string[]): void {
    for (const frame of stateFrames(states)) send(connection, frame)
  }

  async function readAgain(connection: number, follower: Follower): Promise<void> {
    follower.isStale = true
    if (follower.isReading) return
    follower.isReading = true
    while (follower.isStale && follower.isOpen()) {
      follower.isStale = false
      try {
        const news = await catchUp(connection, follower)
        if (!follower.isOpen()) return
        if (!Array.isArray(news)) send(connection, JSON.stringify({ type: 'error', ...news }))
        else if (news.length > 0) tell(connection, news)
      } catch (error) {
        logger.warn({ err: error }, 'a contact list could not be read again')
        follower.isStale = true
        await clock.sleep(READ_AGAIN_MS)
      }
    }
    follower.isReading = false
  }

  return {
    async follow(connection, isOpen) {
      const former = followers.get(connection)
      const follower: Follower = { contactsAt: 0, isOpen, isReading: true, isStale: false }
      // From here on edits are noticed, and the list is read after it.
      followers.set(connection, follower)
      let isFollowed = former !== undefined
      try {
        const states = await catchUp(connection, follower)
        if (!Array.isArray(states)) return states
        isFollowed = true
        if (isOpen()) tell(connection, states)
        return null
      } finally {
        follower.isReading = false
        // Whoever was told that it failed follows nothing by surprise; what was followed before still is.
        const isOurs = followers.get(connection) === follower
        if (!isFollowed && isOurs) followers.delete(connection)
        else if (follower.isStale) void readAgain(connection, follower)
      }
    },
    edited(connections, contactsAt) {
      for (const connection of connections) {
        const follower = followers.get(connection)
        if (follower === undefined || follower.contactsAt >= contactsAt) continue
        follower.contactsAt = contactsAt
        void readAgain(connection, follower)
      }
    },
    refresh() {
      const waiting = [...followers].values()
      // All gateways have missed the same, and there is one database.
      const read = async () => {
        for (const [connection, follower] of waiting) await readAgain(connection, follower)
      }
      for (let reader = 0; reader < READERS; reader++) void read()
    },
    clear: (connection) => void followers.delete(connection),
  }
}

/** At least one, which may be empty: there is an answer to be given. */
function* slicesOf(userIds: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from === 0 || from < userIds.length; from += AT_ONCE_MAX)
    yield userIds.slice(from, from + AT_ONCE_MAX)
}
