// Keeps what the server thinks this connection watches equal to what is wanted, with few frames: wishes
// are collected for a moment, and whoever is wanted and unwanted again meanwhile costs nothing.
// Invariant: somebody is confirmed only once the server has answered on the present connection.
import type { ClientFrame } from '@greendot/protocol'
import type { Runtime } from './platform.ts'
import type { Answer, DotFailure } from './types.ts'

/** Far below what a server takes in a second, whatever an app does. */
const FLUSH_EVERY_MS = 50
/** With ids and versions as long as they can be, a frame stays below 64 KiB. */
const IDS_PER_FRAME_MAX = 100
const REFUSED_RETRY_MS = 5_000

export interface Watchlist {
  isWanted(userId: string): boolean
  /** Wanted, or not yet taken back: what the server tells of them counts. */
  isFollowed(userId: string): boolean
  /** Whether the server has told how this person is, and tells when that changes. */
  isConfirmed(userId: string): boolean
  want(userId: string): void
  unwant(userId: string): void
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
  /** Those for whom there was no room. */
  const refused = new Set<string>()
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

  function dropUnwanted(): void {
    for (const userId of touched) if (!wanted.has(userId)) onDropped(userId)
  }

  function flush(): void {
    isScheduled = false
    if (!isLive) return
    flushedAt = runtime.now()
    dropUnwanted()
    const gone = [...touched].filter((userId) => !wanted.has(userId) && named.delete(userId))
    for (const user_ids of chunks(gone)) ask({ type: 'unwatch', user_ids }, () => {})
    if (gone.length > 0) {
      for (const userId of refused) touched.add(userId)
      refused.clear()
    }
    const come = [...touched].filter((userId) => wanted.has(userId) && !named.has(userId))
    touched.clear()
    for (const userIds of chunks(come)) watch(userIds)
  }

  function watch(user_ids: string[]): void {
    for (const userId of user_ids) named.set(userId, false)
    const known = Object.fromEntries(
      user_ids.flatMap((userId) => {
        const version = versionOf(userId)
        return version === undefined ? [] : [[userId, version]]
      }),
    )
    ask({ type: 'watch', user_ids, known }, (answer) => {
      if (answer.ok) {
        const confirmed = user_ids.filter((userId) => named.has(userId))
        for (const userId of confirmed) named.set(userId, true)
        return onConfirmed(confirmed)
      }
      onTrouble(answer)
      for (const userId of user_ids) named.delete(userId)
      if (answer.code === 'watch_limit') for (const userId of user_ids) refused.add(userId)
      else runtime.after(REFUSED_RETRY_MS, () => user_ids.forEach(touch))
    })
  }

  return {
    isWanted: (userId) => wanted.has(userId),
    isFollowed: (userId) => wanted.has(userId) || named.has(userId),
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
    reset(live) {
      isLive = live
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
