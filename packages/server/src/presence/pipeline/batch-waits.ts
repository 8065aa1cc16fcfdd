// The ways to wait for the tracker: until the batches that hold what is queued now have ended, or until nothing is left
// to do. Batches of the queue end in the order in which they were taken, so counting them is enough.

export interface BatchWaits {
  /** A batch was taken from the queue. */
  take(): void
  /** The oldest batch that was taken has ended. */
  end(): void
  /** Nothing is left to do. */
  idle(): void
  /** Resolves when all batches taken so far have ended, and so many that are still queued. */
  untilEnded(queued: number): Promise<void>
  untilIdle(): Promise<void>
}

export function createBatchWaits(): BatchWaits {
  let taken = 0
  let ended = 0
  let waiters: { afterBatch: number; resolve(): void }[] = []
  let idle: PromiseWithResolvers<void> | null = null

  return {
    take() {
      taken++
    },
    end() {
      ended++
      if (waiters.length === 0) return
      const served = waiters.filter(({ afterBatch }) => afterBatch <= ended)
      waiters = waiters.filter(({ afterBatch }) => afterBatch > ended)
      for (const { resolve } of served) resolve()
    },
    idle() {
      idle?.resolve()
      idle = null
    },
    untilEnded(queued) {
      const afterBatch = taken + queued
      if (afterBatch === ended) return Promise.resolve()
      return new Promise((resolve) => void waiters.push({ afterBatch, resolve }))
    },
    untilIdle() {
      idle ??= Promise.withResolvers()
      return idle.promise
    },
  }
}
