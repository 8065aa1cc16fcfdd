// Gives up commands that are not answered for long although Redis answers others, so that no caller waits for ever. As
// with silence (`silence.ts`) looks are counted, not milliseconds. A process that had to wait for a processor has not read
// its answers yet; the commands that it gave up would be sent again, and a busy machine would never get done.
import type { Clock } from '../platform/clock.ts'

const LOOK_EVERY_MS = 500
/** Five seconds where the looks are on time: half a lease, so that a renewal can be tried again. */
const LOOKS_MAX = 10

export interface LateAnswers {
  /** The answer, or an error when it is late. */
  wait<Answer>(answer: Promise<Answer>): Promise<Answer>
  stop(): void
}

export function watchLateAnswers(clock: Pick<Clock, 'every'>): LateAnswers {
  /** Commands that are sent between two looks have one limit. The newest is last. */
  const limits = [createLimit()]
  const timer = clock.every(LOOK_EVERY_MS, () => {
    limits.push(createLimit())
    if (limits.length > LOOKS_MAX + 1) limits.shift()!.reject(new Error('the answer is late'))
  })
  return {
    wait: (answer) => Promise.race([answer, limits.at(-1)!.promise]),
    stop: timer.stop,
  }
}

function createLimit() {
  const limit = Promise.withResolvers<never>()
  // Most limits end with no command waiting for them.
  limit.promise.catch(() => undefined)
  return limit
}
