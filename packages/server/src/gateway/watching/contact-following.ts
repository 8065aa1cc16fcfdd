// Connections that watch their user's contact list. When the list is edited it is read again: users that are
// new on it are watched, users that left it are not watched any more. The client is told first that they left
// the list, because a contact who hides becomes version 0 too, and then version 0 of those it did not name
// itself, because from then on nothing more will come. For a connection that takes no data a list is not read: however
// often it is edited, one mark is kept, and the list is read when there is room.

import type { Failure, ServerFrame } from '@greendot/protocol'
import type { Archive } from '../../archive/port.ts'
import { chunksOf } from '../../platform/chunks.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import type { PrivacyRules } from '../../presence/core/privacy.ts'
import { unknownPresence } from '../../presence/core/view.ts'
import { changeFrame, type Delivery, encoded, FOLLOWED } from '../delivery/delivery.ts'
import { stateFrames, watchLimitFailure } from './state-frames.ts'
import type { Viewers } from './viewers.ts'
import type { Watches } from './watches.ts'

const READ_AGAIN_MS = 1_000
/** Users of a list that are watched or dropped in one turn of the loop. */
const AT_ONCE_MAX = 500
/** Lists that are read at a time after messages were missed. */
const READERS = 8

export interface ContactFollowing {
  /** Watches the list and follows it from now on. */
  follow(connection: number, isOpen: () => boolean): Promise<Failure | null>
  /** The list of the user behind these connections was edited at that instant, if that is new. */
  edited(connections: Iterable<number>, contactsAt: number): void
  /** The connection takes data again. */
  unblocked(connection: number): void
  /** Lists may have been edited while messages were lost. */
  refresh(): void
  /** The connection ended. */
  clear(connection: number): void
}

export interface ContactFollowingParts {
  archive: Archive
  watches: Watches
  watchLimit: number
  rules: PrivacyRules
  clock: Clock
  logger: Logger
  viewers: Viewers
  delivery: Delivery
}

interface Follower {
  /** The newest edition of the list that was or is being read. */
  contactsAt: number
  isOpen(): boolean
  isReading: boolean
  /** Edited again while it was read, or while the connection took no data. */
  isStale: boolean
}

export function createContactFollowing(parts: ContactFollowingParts): ContactFollowing {
  const { archive, watches, watchLimit, rules, clock, logger, viewers, delivery } = parts
  const { send } = delivery
  const followers = new Map<number, Follower>()

  /** Brings what is watched to what is listed; returns the states of users that are new, or why it failed. */
  async function bringUpToDate(connection: number, follower: Follower): Promise<Failure | string[]> {
    // One more than fits is enough to know that it does not.
    const contacts = await archive.contactsOf(viewers.userIdOf(connection), watchLimit + 1)
    const pause = contacts.length > AT_ONCE_MAX ? clock.nextTurn : () => null
    await pause()
    // A follow that was asked for meanwhile reads the list by itself, and later.
    if (!isCurrent(connection, follower)) return []
    // Before anything changes: a list that does not fit is not followed in part.
    const named = new Set(watches.named(connection))
    const total = contacts.reduce((sum, userId) => (named.has(userId) ? sum : sum + 1), named.size)
    if (total > watchLimit) return watchLimitFailure(total, watchLimit)
    const followed = new Set(watches.followed(connection))
    await pause()
    await drop(connection, follower, await unlisted(followed, contacts, pause))
    return watchNew(
      connection,
      follower,
      contacts.filter((userId) => !followed.has(userId)),
    )
  }

  /** Users that are followed and not listed. */
  async function unlisted(
    followed: ReadonlySet<string>,
    contacts: readonly string[],
    pause: () => unknown,
  ): Promise<string[]> {
    if (followed.size === 0) return []
    const listed = new Set(contacts)
    await pause()
    return [...followed].filter((userId) => !listed.has(userId))
  }

  const isCurrent = (connection: number, follower: Follower) =>
    follower.isOpen() && followers.get(connection) === follower

  async function drop(connection: number, follower: Follower, gone: readonly string[]): Promise<void> {
    for (const some of chunksOf(gone, AT_ONCE_MAX)) {
      if (!isCurrent(connection, follower)) return
      const dropped = watches.unfollow(connection, some)
      send(connection, JSON.stringify({ type: 'contacts_removed', user_ids: some } satisfies ServerFrame))
      if (dropped.length > 0) send(connection, droppedFrame(connection, dropped))
      if (gone.length > AT_ONCE_MAX) await clock.nextTurn()
    }
  }

  function droppedFrame(connection: number, userIds: readonly string[]): string {
    const encoding = delivery.encodingOf(connection)
    const unknown = userIds.map((userId) => JSON.stringify(unknownPresence(userId, rules.hiddenAs)))
    return changeFrame(
      unknown.map((json) => encoded(json, encoding)),
      encoding,
    )
  }

  /** States of all but the last slice are sent at once, before any change of these users is. */
  async function watchNew(
    connection: number,
    follower: Follower,
    added: readonly string[],
  ): Promise<string[]> {
    const { isOpen } = follower
    let states: string[] = []
    let watched = 0
    try {
      for (const some of chunksOf(added, AT_ONCE_MAX)) {
        if (states.length > 0) sendStates(connection, states)
        if (added.length > AT_ONCE_MAX) await clock.nextTurn()
        if (!isCurrent(connection, follower)) return []
        states = (await watches.watch(connection, some, { known: {}, reason: FOLLOWED, isOpen })) ?? []
        watched += some.length
      }
      return states
    } catch (error) {
      // A list is not followed in part.
      await drop(connection, follower, added.slice(0, watched))
      throw error
    }
  }

  function sendStates(connection: number, states: readonly string[]): void {
    for (const frame of stateFrames(states, delivery.encodingOf(connection))) send(connection, frame)
  }

  async function readAgain(connection: number, follower: Follower): Promise<void> {
    follower.isStale = true
    if (follower.isReading) return
    follower.isReading = true
    while (follower.isStale && follower.isOpen() && !delivery.isBlocked(connection)) {
      follower.isStale = false
      try {
        const states = await bringUpToDate(connection, follower)
        if (!follower.isOpen()) return
        if (!Array.isArray(states)) send(connection, JSON.stringify({ type: 'error', ...states }))
        else if (states.length > 0) sendStates(connection, states)
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
      // From here on edits are noticed, and the list is read after that.
      followers.set(connection, follower)
      let isFollowed = former !== undefined
      try {
        const states = await bringUpToDate(connection, follower)
        if (!Array.isArray(states)) return states
        isFollowed = true
        if (isOpen()) sendStates(connection, states)
        return null
      } finally {
        follower.isReading = false
        // After a refusal nothing is followed, except what was followed before.
        const isStill = followers.get(connection) === follower
        if (!isFollowed && isStill) followers.delete(connection)
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
    unblocked(connection) {
      const follower = followers.get(connection)
      if (follower?.isStale) void readAgain(connection, follower)
    },
    refresh() {
      const waiting = [...followers].values()
      // A few at a time: all gateways read at once, and there is one database.
      const read = async () => {
        for (const [connection, follower] of waiting) await readAgain(connection, follower)
      }
      for (let reader = 0; reader < READERS; reader++) void read()
    },
    clear: (connection) => void followers.delete(connection),
  }
}
