// Users that must be looked up in the archive before they can be stepped. They wait here, so that the batch
// of the others does not wait for the archive. Later events of such a user queue behind the look-up: events
// of one user are never reordered, because another order would give other versions and frames (S6, decision 23: order).
import type { ArchiveLookup } from '../reading/archive-lookup.ts'
import { join, splitWorks, type Work } from './work.ts'

/** Queries to the archive at a time; past it users gather for the next one. */
const QUERIES_MAX = 16
const USERS_PER_QUERY_MAX = 1_000

type Works = Map<string, Work>

export interface ArchiveReadQueue {
  has(userId: string): boolean
  /** Looks these users up. Work of a user that is being looked up joins the work that waits. */
  add(works: ReadonlyMap<string, Work>): void
  /** The first users that have been looked up, each with its work; null when there are none. */
  take(usersMax: number): Works | null
  /** Users here, looked up or not. */
  size(): number
}

export function createArchiveReadQueue(lookup: ArchiveLookup, onReady: () => void): ArchiveReadQueue {
  const waiting: Works = new Map()
  const gathering: string[] = []
  let ready: Works = new Map()
  let queries = 0

  function startQueries(): void {
    while (gathering.length > 0 && queries < QUERIES_MAX) void query(gathering.splice(0, USERS_PER_QUERY_MAX))
  }

  async function query(userIds: readonly string[]): Promise<void> {
    queries++
    const found = await lookup.loadOrUnknown(userIds)
    queries--
    for (const [index, userId] of userIds.entries()) {
      const work = waiting.get(userId)!
      work.archived = found[index]!
      ready.set(userId, work)
    }
    startQueries()
    onReady()
  }

  return {
    has: (userId) => waiting.has(userId),
    add(works) {
      for (const [userId, work] of works) {
        const earlier = waiting.get(userId)
        if (earlier !== undefined) join(earlier, work)
        else {
          waiting.set(userId, work)
          gathering.push(userId)
        }
      }
      startQueries()
    },
    take(usersMax) {
      if (ready.size === 0) return null
      const [works, rest] = splitWorks(ready, usersMax)
      ready = rest
      for (const userId of works.keys()) waiting.delete(userId)
      return works
    },
    size: () => waiting.size,
  }
}
