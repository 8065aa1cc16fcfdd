// Callers that wait for the owner of a user to answer. Answers come over the bus and may be lost, so each wait ends by
// itself: the caller is told to try again, whether the update took effect or not.
import type { Clock, Timer } from '../platform/clock.ts'
import type { Tracked } from '../presence/pipeline/tracker.ts'
import { Unavailable } from '../presence/unavailable.ts'

const LOOK_EVERY_MS = 250

interface Waiting {
  until: number
  resolve(tracked: Tracked): void
  reject(error: unknown): void
}

export interface PendingAnswers {
  wait(): { ref: string; answer: Promise<Tracked> }
  resolve(ref: string, tracked: Tracked): void
  reject(ref: string, error: unknown): void
  count(): number
  /** Resolves when none is waited for. */
  settled(): Promise<void>
  stop(): void
}

export function createPendingAnswers(clock: Clock, waitMs: number): PendingAnswers {
  const waiting = new Map<string, Waiting>()
  let lastRef = 0
  let looking: Timer | null = null
  let none: PromiseWithResolvers<void> | null = null

  function noticeNone(): void {
    if (waiting.size > 0) return
    looking?.stop()
    looking = null
    none?.resolve()
    none = null
  }

  // The oldest come first.
  function look(): void {
    const now = clock.now()
    for (const [ref, { until, reject }] of waiting) {
      if (until > now) break
      waiting.delete(ref)
      reject(new Unavailable('the update is not confirmed yet'))
    }
    noticeNone()
  }

  function take(ref: string): Waiting | undefined {
    const found = waiting.get(ref)
    if (waiting.delete(ref)) noticeNone()
    return found
  }

  return {
    wait() {
      const ref = (++lastRef).toString(36)
      const answer = new Promise<Tracked>((resolve, reject) => {
        waiting.set(ref, { until: clock.now() + waitMs, resolve, reject })
      })
      looking ??= clock.every(LOOK_EVERY_MS, look)
      return { ref, answer }
    },
    resolve: (ref, tracked) => take(ref)?.resolve(tracked),
    reject: (ref, error) => take(ref)?.reject(error),
    count: () => waiting.size,
    async settled() {
      if (waiting.size === 0) return
      none ??= Promise.withResolvers()
      await none.promise
    },
    stop() {
      const error = new Unavailable('this process is stopping')
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
      noticeNone()
    },
  }
}
