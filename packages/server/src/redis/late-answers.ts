// Gives up commands that are not answered for long although Redis answers others, so that no caller waits for ever. As
// with silence (`silence.ts`) checks are counted, not milliseconds. A process that had to wait for a processor has not
// read its answers yet; the commands that it gave up would be sent again, and a busy machine would never get done.
import type { Clock } from '../platform/clock.ts'

const CHECK_EVERY_MS = 500
/** Five seconds where the checks are on time: half a lease, so that a renewal can be tried again. */
const CHECKS_MAX = 10

type GiveUp = (error: Error) => void

export interface LateAnswers {
  /** The answer, or an error when it is late. */
  wait<Answer>(answer: Promise<Answer>): Promise<Answer>
  stop(): void
}

export function watchLateAnswers(clock: Pick<Clock, 'every'>): LateAnswers {
  /** The commands without an answer, by the check before which they were sent. The newest are last. */
  const unanswered: Set<GiveUp>[] = [new Set()]
  const timer = clock.every(CHECK_EVERY_MS, () => {
    unanswered.push(new Set())
    if (unanswered.length <= CHECKS_MAX + 1) return
    for (const giveUp of unanswered.shift()!) giveUp(new Error('the answer is late'))
  })
  return {
    // A race against one promise for all would keep every answer until that promise is settled.
    wait<Answer>(answer: Promise<Answer>) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      const sentTogether = unanswered.at(-1)!
      sentTogether.add(reject)
      answer.then(resolve, reject).finally(() => sentTogether.delete(reject))
      return promise
    },
    stop: timer.stop,
  }
}
