// What the app has asked of the server and not heard of yet. Connections come and go meanwhile: whatever has
// no answer is asked again on the next one, in order, until it is answered or too old to be meant any more.
import type { ClientFrame } from '@greendot/protocol'
import type { Runtime } from '../platform.ts'
import type { Answer, ErrorCode } from '../types.ts'

/** A choice that could not be made for so long would surprise whoever made it. */
const CHOICE_MS_MAX = 30_000
const CHOICES_MAX = 100

export interface Choices {
  make(frame: ClientFrame): Promise<Answer>
  /** There is a connection that knows nothing of them yet. */
  askAgain(): void
  settle(ref: number, answer: Answer): void
  refuseAll(why: string): void
}

interface Choice {
  frame: ClientFrame
  settle(answer: Answer): void
}

export const refusal = (message: string, code: ErrorCode = 'unavailable'): Answer => ({
  ok: false,
  code,
  message,
})

/** What is sent without a connection is lost, which is why it is sent again. */
export function createChoices(runtime: Runtime, send: (ref: number, frame: ClientFrame) => void): Choices {
  const open = new Map<number, Choice>()
  let lastRef = 0
  return {
    make(frame) {
      if (open.size >= CHOICES_MAX)
        return Promise.resolve(refusal('too much is waiting for an answer', 'overloaded'))
      const ref = ++lastRef
      return new Promise((resolve) => {
        const limit = runtime.after(CHOICE_MS_MAX, () => settle(refusal('there was no answer in time')))
        function settle(answer: Answer): void {
          limit.stop()
          open.delete(ref)
          resolve(answer)
        }
        open.set(ref, { frame, settle })
        send(ref, frame)
      })
    },
    askAgain() {
      for (const [ref, { frame }] of open) send(ref, frame)
    },
    settle: (ref, answer) => open.get(ref)?.settle(answer),
    refuseAll(why) {
      for (const choice of open.values()) choice.settle(refusal(why))
    },
  }
}
