// Waiting with a limit: work that takes longer goes on, and its result is ignored.
import type { Clock } from './clock.ts'

/** What the work gives; after `limitMs` what `late` gives instead, or the error that it throws. */
export async function within<Value>(
  clock: Pick<Clock, 'after'>,
  limitMs: number,
  work: Promise<Value>,
  late: () => Value,
): Promise<Value> {
  const limit = Promise.withResolvers<void>()
  const timer = clock.after(limitMs, limit.resolve)
  try {
    return await Promise.race([work, limit.promise.then(late)])
  } finally {
    timer.stop()
  }
}
