// Keeps the watch list of the connection equal to the wanted ids, with few frames: changes are collected for
// a moment, and an id that is added and removed meanwhile sends nothing. The contact list is one more wanted
// id; every user in a snapshot that was not requested by id is on the list.
// Invariant: an id is confirmed only once the server has answered on the present connection.
import type { ClientFrame } from '@greendot/protocol'
import { chunksOf } from '../chunks.ts'
import type { Runtime } from '../platform.ts'
import type { Answer, DotFailure } from '../types.ts'

/** At most 20 flushes a second, far below the server's limit of frames. */
const FLUSH_EVERY_MS = 50
/** With ids and versions of the maximum length, a frame stays below 64 KiB. */
const IDS_PER_FRAME_MAX = 100
const REFUSED_RETRY_MS = 5_000
/** Stands for the whole contact list among watched ids. No user id contains a space. */
export const CONTACTS = ' '

export interface Watchlist {
  /** Wanted, or not yet unwatched: presence of this user is used. */
  isFollowed(userId: string): boolean
  /** The server has answered the watch of this id on the present connection. */
  isConfirmed(userId: string): boolean
  /** `CONTACTS` is the whole contact list. */
  want(userId: string): void
  unwant(userId: string): void
  /** Ids on the contact list. */
  listed(): Iterable<string>
  /** These ids left the contact list. */
  unlist(userIds: readonly string[]): void
  /** A snapshot contains this id; true if the contact list is the reason. */
  noteSnapshot(userId: string): boolean
  /** A new connection, which watches nothing yet, or none at all. */
  reset(isLive: boolean): void
}

export interface WatchlistParts {
  runtime: Runtime
  versionOf(userId: string): number | undefined
  ask(frame: ClientFrame, onAnswer: (answer: Answer) => void): void
  /** The server has answered for these ids. */
  onConfirmed(userIds: string[]): void
  /** This id is no longer watched. Until then its last presence is kept. */
  onDropped(userId: string): void
  onError(failure: DotFailure): void
}

export function createWatchlist({
  runtime,
  versionOf,
  ask,
  onConfirmed,
  onDropped,
  onError,
}: WatchlistParts): Watchlist {
  const wanted = new Set<string>()
  /** Ids requested on this connection, and whether the server has answered. */
  const requested = new Map<string, boolean>()
  const touched = new Set<string>()
  /** Ids refused because of the watch limit, or because the transport cannot watch them. */
  const refused = new Set<string>()
  const listed = new Set<string>()
  /** For each unanswered request, in order: the ids that its snapshot will contain. */
  let expected: Set<string>[] = []
  /** The contact list was requested; the server follows it until the connection ends. */
  let isFollowing = false
  let isLive = false
  let isScheduled = false
  let flushedAt = 0

  function touch(userId: string): void {
    // The next connection starts with all wanted ids.
    if (!isLive) return
    touched.add(userId)
    if (isScheduled) return
    isScheduled = true
    const waitMs = flushedAt + FLUSH_EVERY_MS - runtime.now()
    if (waitMs > 0) runtime.after(waitMs, flush)
    else queueMicrotask(flush)
  }

  const isListed = (userId: string) => listed.has(userId) && wanted.has(CONTACTS)
  const isNeeded = (userId: string) => wanted.has(userId) || isListed(userId)

  function dropUnwanted(): void {
    for (const userId of touched) if (!isNeeded(userId)) onDropped(userId)
  }

  function flush(): void {
    isScheduled = false
    if (!isLive) return
    flushedAt = runtime.now()
    if (!wanted.has(CONTACTS)) {
      // The server follows the list until the connection ends, so all its ids are unwatched instead.
      requested.delete(CONTACTS)
      for (const userId of listed) touched.add(userId)
    }
    dropUnwanted()
    const toUnwatch = [...touched].filter((userId) => {
      if (isNeeded(userId)) return false
      const wasListed = listed.delete(userId)
      return requested.delete(userId) || wasListed
    })
    for (const user_ids of chunksOf(toUnwatch, IDS_PER_FRAME_MAX))
      ask({ type: 'unwatch', user_ids }, () => {
        // The server has put these ids on the list before it read the unwatch frame, and no longer sends
        // their changes: request the list again.
        if (!user_ids.some(isListed)) return
        requested.delete(CONTACTS)
        touch(CONTACTS)
      })
    if (toUnwatch.length > 0) {
      for (const userId of refused) touched.add(userId)
      refused.clear()
    }
    const toWatch = [...touched].filter((userId) => wanted.has(userId) && !requested.has(userId))
    touched.clear()
    if (toWatch.includes(CONTACTS)) {
      isFollowing = true
      request([CONTACTS], { type: 'watch_contacts' })
    }
    const ids = toWatch.filter((userId) => userId !== CONTACTS)
    for (const userIds of chunksOf(ids, IDS_PER_FRAME_MAX)) watch(userIds)
  }

  function watch(user_ids: string[]): void {
    // JSON.stringify leaves out ids without a version.
    const known = Object.fromEntries(user_ids.map((userId) => [userId, versionOf(userId)!]))
    request(user_ids, { type: 'watch', user_ids, known })
  }

  function request(userIds: string[], frame: ClientFrame): void {
    for (const userId of userIds) requested.set(userId, false)
    expected.push(new Set(userIds))
    ask(frame, (answer) => {
      expected.shift()
      if (answer.ok) {
        const confirmed = userIds.filter((userId) => requested.has(userId))
        for (const userId of confirmed) requested.set(userId, true)
        return onConfirmed(confirmed)
      }
      onError(answer)
      for (const userId of userIds) requested.delete(userId)
      if (answer.code === 'watch_limit' || answer.code === 'unknown_type')
        for (const userId of userIds) refused.add(userId)
      else runtime.after(REFUSED_RETRY_MS, () => userIds.forEach(touch))
    })
  }

  return {
    isFollowed: (userId) => isNeeded(userId) || requested.has(userId),
    isConfirmed: (userId) => requested.get(userId) === true,
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
    unlist(userIds) {
      for (const userId of userIds) {
        listed.delete(userId)
        if (!isNeeded(userId)) onDropped(userId)
      }
    },
    noteSnapshot(userId) {
      if (!isFollowing || expected[0]?.delete(userId)) return false
      listed.add(userId)
      // The list may have been unwatched meanwhile.
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
      requested.clear()
      refused.clear()
      touched.clear()
      if (isLive) wanted.forEach(touch)
    },
  }
}
