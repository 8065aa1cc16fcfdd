// Users of a shard whose rows could not be written when they were tried without others. Each may have rows that the
// database refuses, or the database was away: the others must not wait to find out. They are written one by one, each
// in a statement of its own, once the database takes other rows.

/** Users of one shard. Past it the oldest is tried with the others again. */
const USERS_MAX = 20
/** Rows that were refused while the database took others are tried again this often. */
const REFUSED_AGAIN_MS = 60_000

interface Aside {
  /** Refused while the database took other rows, and that was logged. */
  isRefused: boolean
  retryAt: number
}

export interface SetAside {
  size(): number
  has(userId: string): boolean
  /** Whether it may be tried now. */
  isDue(userId: string, now: number): boolean
  /** It failed, perhaps because the database is away. It is the last to be tried again. */
  failed(userId: string, now: number): void
  /** It failed while the database took other rows. False if that was known. */
  refused(userId: string, now: number): boolean
  done(userId: string): void
  /** The others have no open duties any more. */
  keepOnly(userIds: ReadonlySet<string>): void
  /** In the order in which they are to be tried. */
  userIds(): string[]
}

export function createSetAside(): SetAside {
  const users = new Map<string, Aside>()

  function put(userId: string, aside: Aside): void {
    users.delete(userId)
    users.set(userId, aside)
    if (users.size > USERS_MAX) users.delete(users.keys().next().value!)
  }

  return {
    size: () => users.size,
    has: (userId) => users.has(userId),
    isDue: (userId, now) => (users.get(userId)?.retryAt ?? 0) <= now,
    failed(userId, now) {
      const isRefused = users.get(userId)?.isRefused ?? false
      put(userId, { isRefused, retryAt: isRefused ? now + REFUSED_AGAIN_MS : 0 })
    },
    refused(userId, now) {
      const isNew = users.get(userId)?.isRefused !== true
      put(userId, { isRefused: true, retryAt: now + REFUSED_AGAIN_MS })
      return isNew
    },
    done: (userId) => void users.delete(userId),
    keepOnly(userIds) {
      for (const userId of users.keys()) if (!userIds.has(userId)) users.delete(userId)
    },
    userIds: () => [...users.keys()],
  }
}
