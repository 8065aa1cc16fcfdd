// A short local cache for queries (R6). It is made before the parts that use it: the announcer and the inbox
// drop users that changed, the reader fills it. Users with privacy settings are never cached, so a user who
// hides from more viewers than before is hidden at once.

import { createRecentMap } from '../../platform/recent-map.ts'
import type { UserRecord } from '../core/record.ts'

/** Users in the cache; past it the oldest go. */
const CACHED_MAX = 50_000
/** Users that changed lately, so that a query that began before does not put them back. */
const CHANGED_MAX = 10_000

export interface QueryCache {
  get(userId: string, now: number): UserRecord | undefined
  /** To be taken before a query reads the store. */
  mark(): number
  /** Keeps what a query read since its mark. */
  put(userId: string, record: UserRecord | null, now: number, mark: number): void
  /** The user changed. */
  forget(userId: string): void
}

/** `cacheMs` 0 turns it off: where the store is as near as the cache. */
export function createQueryCache(cacheMs: number): QueryCache {
  const cached = createRecentMap<{ record: UserRecord; until: number }>(CACHED_MAX, cacheMs)
  const changedAt = createRecentMap<number>(CHANGED_MAX)
  let changes = 0
  return {
    get(userId, now) {
      const entry = cacheMs === 0 ? undefined : cached.get(userId)
      return entry !== undefined && entry.until > now ? entry.record : undefined
    },
    mark: () => changes,
    put(userId, record, now, mark) {
      if (cacheMs === 0 || record === null || record.privacy !== null) return
      if ((changedAt.get(userId) ?? 0) > mark) return
      cached.set(userId, { record, until: now + cacheMs }, now)
    },
    forget(userId) {
      if (cacheMs === 0) return
      cached.delete(userId)
      changedAt.set(userId, ++changes)
    },
  }
}
