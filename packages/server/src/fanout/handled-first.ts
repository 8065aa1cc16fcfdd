// A lone server has its change log in memory, so a crash takes what a consumer has not written yet. What the consumer
// writes must therefore be there before watchers are told. A consumer that does not get on, because the database fails,
// is waited for once, and then not again until it has caught up: presence does not depend on it.
import type { Clock } from '../platform/clock.ts'

const WAIT_MS_MAX = 1_000

export interface HandledFirstParts {
  /** Resolves when what is in the log now is handled; null when it is. */
  whenHandled(): Promise<unknown> | null
  clock: Pick<Clock, 'after'>
}

/** What to wait for before a change is announced; null for nothing. */
export function createHandledFirst({ whenHandled, clock }: HandledFirstParts): () => Promise<unknown> | null {
  let isLate = false

  return () => {
    if (isLate) return null
    const handled = whenHandled()
    if (handled === null) return null
    return new Promise<void>((resolve) => {
      const timer = clock.after(WAIT_MS_MAX, () => {
        isLate = true
        resolve()
      })
      void handled.then(() => {
        timer.stop()
        isLate = false
        resolve()
      })
    })
  }
}
