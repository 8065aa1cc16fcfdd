// Requests of the app that have no answer yet. After a reconnect they are sent again in order, until they are
// answered or too old.
import type { ClientFrame } from '@greendot/protocol'
import type { Runtime } from '../platform.ts'
import type { Answer, ErrorCode } from '../types.ts'

/** A change that takes effect after more than this would surprise the user. */
const REQUEST_MS_MAX = 30_000
const REQUESTS_MAX = 100

export interface Requests {
  send(frame: ClientFrame): Promise<Answer>
  /** Sends everything without an answer on a new connection. */
  resend(): void
  answer(ref: number, answer: Answer): void
  failAll(why: string): void
}

interface PendingRequest {
  frame: ClientFrame
  end(answer: Answer): void
}

export const failed = (message: string, code: ErrorCode = 'unavailable'): Answer & { ok: false } => ({
  ok: false,
  code,
  message,
})

/** Frames sent without a connection are dropped; `resend` covers them. */
export function createRequests(runtime: Runtime, send: (ref: number, frame: ClientFrame) => void): Requests {
  const open = new Map<number, PendingRequest>()
  let lastRef = 0
  return {
    send(frame) {
      if (open.size >= REQUESTS_MAX) return Promise.resolve(failed('too many pending requests', 'overloaded'))
      const ref = ++lastRef
      return new Promise((resolve) => {
        const limit = runtime.after(REQUEST_MS_MAX, () => end(failed('no answer in time')))
        function end(answer: Answer): void {
          limit.stop()
          open.delete(ref)
          resolve(answer)
        }
        open.set(ref, { frame, end })
        send(ref, frame)
      })
    },
    resend() {
      for (const [ref, { frame }] of open) send(ref, frame)
    },
    answer: (ref, answer) => open.get(ref)?.end(answer),
    failAll(why) {
      for (const request of open.values()) request.end(failed(why))
    },
  }
}
