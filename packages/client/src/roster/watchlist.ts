// Keeps what the server thinks this connection watches equal to what is wanted, with few frames: wishes
// are collected for a moment, and whoever is wanted and unwanted again meanwhile costs nothing. The contact
// list is one more wish, and the server says who that is: whomever it tells of unasked is on it.
// Invariant: somebody is confirmed only once the server has answered on the present connection.
import type { ClientFrame } from '@greendot/protocol'
import { CONTACTS } from '../connection/messages.ts'
import type { Runtime } from '../platform.ts'
import type { Answer, DotFailure } from '../types.ts'

/** Far below what a server takes in a second, whatever an app does. */
const FLUSH_EVERY_MS = 50
/** With ids and versions as long as they can be, a frame stays below 64 KiB. */
const IDS_PER_FRAME_MAX = 100
const REFUSED_RETRY_MS = 5_000

export interface Watchlist {
  /** Wanted, or not yet taken back: what the server tells of them counts. */
  isFollowed(userId: string): boolean
  /** Whether the server has told how this person is, and tells when that changes. */
  isConfirmed(userId: string): boolean
  /** `CONTACTS` is everybody on the contact list. */
  want(userId: string): void
  unwant(userId: string): void
  /** The server's list, as far as it has told; of somebody who has left it nothing is known any more. */
  listed(): Iterable<string>
  /** A snapshot has this person in it; true when that is because of the list. */
  tellsOf(userId: string): boolean
  /** A new connection, which watches nobody yet; or none at all. */
  reset(isLive: boolean): void
}

export interface WatchlistParts {
  runtime: Runtime
  versionOf(userId: string): number | undefined
  ask(frame: ClientFrame, onAnswer: (answer: Answer) => void): void
  /** The server has answered for these: they are as we know them now. */
  onConfirmed(userIds: string[]): void
  /** Nobody tells us of this person any more. Until then whoever wants them back finds them as they were. */
  onDropped(userId: string): void
  onTrouble(failure: DotFailure): void
}

export function createWatchlist({
  runtime,
  versionOf,
  ask,
  onConfirmed,
  onDropped,
  onTrouble,
}: WatchlistParts): Watchlist {
  const wanted = new Set<string>()
  /** Everybody named to the server on this connection, and whether it has answered. */
  const named = new Map<string, boolean>()
  const touched = new Set<string>()
  /** Those for whom there was no room, or no way. */
  const refused = new Set<string>()
  const listed = new Set<string>()
  /** By question, in the order of their answers: whom its snapshot will have, once each. */
  let expected: Set<string>[] = []
  /** The list was asked for on this connection, which follows it to its end. */
  let isFollowing = false
  let isLive = false
  let isScheduled = false
  let flushedAt = 0

  function touch(userId: string): void {
    // Without a connection there is nobody to tell, and the next one begins with everybody wanted.
    if (!isLive) return
    touched.add(userId)
    if (isScheduled) return
    isScheduled = true
    const waitMs = flushedAt + FLUSH_EVERY_MS - runtime.now()
    if (waitMs > 0) runtime.after(waitMs, flush)
    else queueMicrotask(flush)
  }

  const isListed = (userId: string) => listed.has(userId) && wanted.has(CONTACTS)
  const isHeld = (userId: string) => wanted.has(userId) || isListed(userId)

  function dropUnwanted(): void {
    for (const userId of touched) if (!isHeld(userId)) onDropped(userId)
  }

  function flush(): void {
    isScheduled = false
    if (!isLive) return
    flushedAt = runtime.now()
    if (!wanted.has(CONTACTS)) {
      // The server follows the list for as long as we are connected. Giving up everybody on it is as good.
      named.delete(CONTACTS)
      for (const userId of listed) touched.add(userId)
    }
    dropUnwanted()
    const gone = [...touched].filter((userId) => {
      if (isHeld(userId)) return false
      const wasListed = listed.delete(userId)
      return named.delete(userId) || wasListed
    })
    for (const user_ids of chunks(gone))
      ask({ type: 'unwatch', user_ids }, () => {
        // The list told of them before it was read: they are on it, and the server tells of them no more.
        if (!user_ids.some(isListed)) return
        named.delete(CONTACTS)
        touch(CONTACTS)
      })
    if (gone.length > 0) {
      for (const userId of refused) touched.add(userId)
      refused.clear()
    }
    const come = [...touched].filter((userId) => wanted.has(userId) && !named.has(userId))
    touched.clear()
    if (come.includes(CONTACTS)) {
      isFollowing = true
      name([CONTACTS], { type: 'watch_contacts' })
    }
    for (const userIds of chunks(come.filter((userId) => userId !== CONTACTS))) watch(userIds)
  }

  function watch(user_ids: string[]): void {
    // Those of whom nothing is known have no version, and are left out when it is written.
    const known = Object.fromEntries(user_ids.map((userId) => [userId, versionOf(userId)!]))
    name(user_ids, { type: 'watch', user_ids, known })
  }

  function name(userIds: string[], frame: ClientFrame): void {
    for (const userId of userIds) named.set(userId, false)
    expected.push(new Set(userIds))
    ask(frame, (answer) => {
      expected.shift()
      if (answer.ok) {
        const confirmed = userIds.filter((userId) => named.has(userId))
        for (const userId of confirmed) named.set(userId, true)
        return onConfirmed(confirmed)
      }
      onTrouble(answer)
      for (const userId of userIds) named.delete(userId)
      if (answer.code === 'watch_limit' || answer.code === 'unknown_type')
        for (const userId of userIds) refused.add(userId)
      else runtime.after(REFUSED_RETRY_MS, () => userIds.forEach(touch))
    })
  }

  return {
    isFollowed: (userId) => isHeld(userId) || named.has(userId),
    isConfirmed: (userId) => named.get(userId) === true,
    want(userId) {
      wanted.add(userId)
      touch(userId)
    },
    unwant(userId) {
      wanted.delete(userId)
      refused.delete(userId)
      touch(userId)
      if (!isLive) onDropped(userId)
    },
    listed: () => listed,
    tellsOf(userId) {
      if (!isFollowing || expected[0]?.delete(userId)) return false
      listed.add(userId)
      // Nobody may want the list any more.
      touch(CONTACTS)
      return true
    },
    reset(live) {
      isLive = live
      isFollowing = false
      for (const userId of listed) touched.add(userId)
      listed.clear()
      expected = []
      dropUnwanted()
      named.clear()
      refused.clear()
      touched.clear()
      if (isLive) wanted.forEach(touch)
    },
  }
}

function chunks(userIds: readonly string[]): string[][] {
  const count = Math.ceil(userIds.length / IDS_PER_FRAME_MAX)
  return Array.from({ length: count }, (_, index) =>
    userIds.slice(index * IDS_PER_FRAME_MAX, (index + 1) * IDS_PER_FRAME_MAX),
  )
}
