// How many users a batch of the tracker has. All processes share the store. When it has lost its memory, every gateway
// announces its users at the same time. On busy processors a large batch is answered too late then and sent again, which
// keeps them busy for good. So batches shrink while the store is slow, and grow again (decision 52).

/** Bounds how long one turn works. */
const USERS_MAX = 1_000
/** Below this the cost of a call outweighs that of its users. */
const USERS_MIN = 50
const STEP = 50
/** A third of the time after which silence of Redis breaks the connection (`redis/silence.ts`). */
const SLOW_MS = 500
const QUICK_MS = 100

export interface BatchSize {
  usersMax(): number
  /** A batch of so many users took so long. */
  ended(users: number, tookMs: number): void
  failed(): void
}

export function createBatchSize(): BatchSize {
  let usersMax = USERS_MAX
  return {
    usersMax: () => usersMax,
    ended(users, tookMs) {
      if (tookMs > SLOW_MS) usersMax = Math.max(USERS_MIN, Math.floor(usersMax / 2))
      // A batch with few users says nothing about a large one.
      else if (tookMs < QUICK_MS && users >= usersMax) usersMax = Math.min(USERS_MAX, usersMax + STEP)
    },
    failed() {
      usersMax = USERS_MIN
    },
  }
}
