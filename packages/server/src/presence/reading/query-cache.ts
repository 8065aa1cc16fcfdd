// A short local cache for queries (R6). It is made before the parts that use it: the announcer and the inbox
// drop users that changed, the reader fills it. Users with privacy settings are never cached, so a user who
// hides from more viewers than before is hidden at once.
import type { UserRecord } from '../core/record.ts'
import { createRecentMap } from '../recent-map.ts'

/** Users in the cache; past it the oldest go. */
const CACHED_MAX = 50_000

export interface QueryCache {
  get(userId: string, now: number): UserRecord | undefined
  put(userId: string, record: UserRecord | null, now: number): void
  /** The user changed. */
  forget(userId: string): void
}

/** `cacheMs` 0 turns it off: where the store is as near as the cache. */
export function createQueryCache(cacheMs: number): QueryCache {
  const cached = createRecentMap<{ record: UserRecord; until: number }>(CACHED_MAX)
  return {
    get(userId, now) {
      const entry = cacheMs === 0 ? undefined : cached.get(userId)
      return entry !== undefined && entry.until > now ? entry.record : undefined
    },
    put(userId, record, now) {
      if (cacheMs === 0 || record === null || record.privacy !== null) return
      cached.set(userId, { record, until: now + cacheMs })
    },
    forget: (userId) => cached.delete(userId),
  }
}
