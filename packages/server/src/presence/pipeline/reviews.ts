// Users whose choices the store may have lost, and whom the archive could not be asked about. They are looked up once the
// archive answers: otherwise a choice that was acknowledged would have no effect until the next restart.
import type { Clock } from '../../platform/clock.ts'
import type { ArchiveLookup } from '../reading/archive-lookup.ts'

const ASK_EVERY_MS = 1_000
/** Users that wait; past it they keep what the store has. */
const USERS_MAX = 1_000_000

export interface Reviews {
  later(userId: string): void
  size(): number
}

export interface ReviewsParts {
  lookup: ArchiveLookup
  clock: Clock
  /** The archive answers: looks these up again. */
  review(userIds: ReadonlySet<string>): void
}

export function createReviews({ lookup, clock, review }: ReviewsParts): Reviews {
  let waiting = new Set<string>()
  let isAsking = false

  async function ask(): Promise<void> {
    isAsking = true
    for (let isUnread = true; isUnread; ) {
      await clock.sleep(ASK_EVERY_MS)
      // One user is enough to find out.
      const [first] = waiting
      const [asked] = await lookup.loadOrUnknown([first!])
      isUnread = asked!.isUnread
    }
    const userIds = waiting
    waiting = new Set()
    isAsking = false
    review(userIds)
  }

  return {
    later(userId) {
      if (waiting.size >= USERS_MAX) return
      waiting.add(userId)
      if (!isAsking) void ask()
    },
    size: () => waiting.size,
  }
}
