// Callers that wait for another process to answer. Answers come over the bus and may be lost, so each wait ends by
// itself: the caller is told to try again, whether what it asked for took effect or not.
import type { Clock, Timer } from '../platform/clock.ts'
import { Unavailable } from './unavailable.ts'

const CHECK_EVERY_MS = 250

interface Waiting<T> {
  until: number
  resolve(answer: T): void
  reject(error: unknown): void
}

export interface PendingAnswers<T> {
  wait(waitMs: number): { ref: string; answer: Promise<T> }
  resolve(ref: string, answer: T): void
  reject(ref: string, error: unknown): void
  /** Waits so long from now on; false when no caller waits for this answer any more. */
  postpone(ref: string, waitMs: number): boolean
  count(): number
  /** Resolves when none is waited for. */
  whenAllAnswered(): Promise<void>
  stop(): void
}

export function createPendingAnswers<T>(clock: Clock, onLate: () => void = () => {}): PendingAnswers<T> {
  const waiting = new Map<string, Waiting<T>>()
  let lastRef = 0
  let checking: Timer | null = null
  let none: PromiseWithResolvers<void> | null = null

  function noticeNone(): void {
    if (waiting.size > 0) return
    checking?.stop()
    checking = null
    none?.resolve()
    none = null
  }

  function check(): void {
    const now = clock.now()
    for (const [ref, { until, reject }] of waiting) {
      if (until > now) continue
      waiting.delete(ref)
      onLate()
      reject(new Unavailable('the update is not confirmed yet'))
    }
    noticeNone()
  }

  function take(ref: string): Waiting<T> | undefined {
    const found = waiting.get(ref)
    if (waiting.delete(ref)) noticeNone()
    return found
  }

  return {
    wait(waitMs) {
      const ref = (++lastRef).toString(36)
      const answer = new Promise<T>((resolve, reject) => {
        waiting.set(ref, { until: clock.now() + waitMs, resolve, reject })
      })
      checking ??= clock.every(CHECK_EVERY_MS, check)
      return { ref, answer }
    },
    resolve: (ref, answer) => take(ref)?.resolve(answer),
    reject: (ref, error) => take(ref)?.reject(error),
    postpone(ref, waitMs) {
      const found = waiting.get(ref)
      if (found !== undefined) found.until = clock.now() + waitMs
      return found !== undefined
    },
    count: () => waiting.size,
    async whenAllAnswered() {
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
