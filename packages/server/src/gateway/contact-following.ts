// Connections that watch their user's contact list, whatever is on it. When the list is edited it is
// read again: people who are new on it are watched and told of, people who left it are forgotten. The
// client hears version 0 of those, because from then on nothing more will come.
import type { Failure } from '@greendot/protocol'
import type { Archive } from '../archive/port.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { PrivacyRules } from '../presence/privacy.ts'
import { unknownPresence } from '../presence/view.ts'
import { FOLLOWED } from './edge-flags.ts'
import { stateFrames, watchLimitFailure } from './state-frames.ts'
import { CHANGE_FRAME_START, FRAME_LIST_END } from './target-table.ts'
import type { Watches } from './watches.ts'

const READ_AGAIN_MS = 1_000
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

  /** Brings what is watched to what is listed, and returns what the client is to be told of the new. */
  async function catchUp(connection: number, follower: Follower): Promise<Failure | string[]> {
    // One more than fits is enough to know that it does not.
    const contacts = await archive.contactsOf(ownerIdOf(connection), watchLimit + 1)
    // Whoever asked once more meanwhile has a reading of their own, and it is newer.
    if (!follower.isOpen() || followers.get(connection) !== follower) return []
    // Before anything changes: a list that does not fit is not followed in part.
    const total = new Set([...watches.named(connection), ...contacts]).size
    if (total > watchLimit) return watchLimitFailure(total, watchLimit)
    const listed = new Set(contacts)
    const followed = new Set(watches.followed(connection))
    const gone = [...followed].filter((userId) => !listed.has(userId))
    const dropped = watches.unfollow(connection, gone)
    if (dropped.length > 0) {
      const unknown = dropped.map((userId) => JSON.stringify(unknownPresence(userId, rules.hiddenAs)))
      send(connection, CHANGE_FRAME_START + unknown.join(',') + FRAME_LIST_END)
    }
    const added = contacts.filter((userId) => !followed.has(userId))
    const { isOpen } = follower
    return (await watches.watch(connection, added, { known: {}, why: FOLLOWED, isOpen })) ?? []
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
