// The ways to wait for the tracker: until the batches that hold what is queued now have ended, or until nothing is left
// to do. Batches of the queue end in the order in which they were taken, so counting their users is enough.

export interface BatchWaits {
  /** A batch of so many users was taken from the queue. */
  take(users: number): void
  /** The oldest batch that was taken has ended; it had so many users. */
  end(users: number): void
  /** Nothing is left to do. */
  idle(): void
  /** Resolves when all batches taken so far have ended, and those of so many users that are still queued. */
  untilEnded(queuedUsers: number): Promise<void>
  untilIdle(): Promise<void>
}

export function createBatchWaits(): BatchWaits {
  let taken = 0
  let ended = 0
  let waiters: { afterUsers: number; resolve(): void }[] = []
  let idle: PromiseWithResolvers<void> | null = null

  return {
    take(users) {
      taken += users
    },
    end(users) {
      ended += users
      if (waiters.length === 0) return
      const served = waiters.filter(({ afterUsers }) => afterUsers <= ended)
      waiters = waiters.filter(({ afterUsers }) => afterUsers > ended)
      for (const { resolve } of served) resolve()
    },
    idle() {
      idle?.resolve()
      idle = null
    },
    untilEnded(queuedUsers) {
      const afterUsers = taken + queuedUsers
      if (afterUsers === ended) return Promise.resolve()
      return new Promise((resolve) => void waiters.push({ afterUsers, resolve }))
    },
    untilIdle() {
      idle ??= Promise.withResolvers()
      return idle.promise
    },
  }
}
