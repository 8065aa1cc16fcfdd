// Where the messages of a call go, and how many of them wait for a client that reads slowly. When a few wait, the outbox is
// told to keep marks instead of messages. What is sent in answer to a request is written all the same, so a limit ends the
// call of a client that does not read at all.
import type { ServerDuplexStream, ServerWritableStream } from '@grpc/grpc-js'
import type { Message, Out, Refused } from './call.ts'
import type { StatusWriter } from './status.ts'

/** Messages that may wait for a slow reader before no more are taken. */
export const MESSAGES_WAITING = 4
/** Characters that may wait before the call ends. The states of the longest list fit. */
export const UNREAD_CHARS_MAX = 8 * 1024 * 1024

const READS_TOO_SLOWLY: Refused = {
  code: 'rate_limited',
  message: `more than ${UNREAD_CHARS_MAX} characters wait to be read; read faster, and connect again`,
  retryAfterSeconds: 1,
}

/** As much of a call as is used here. */
export type Writing = Pick<
  ServerDuplexStream<Message, Message> | ServerWritableStream<Message, Message>,
  'on' | 'emit' | 'write' | 'cancelled'
>

export interface CallOut {
  out: Out
  fail(failure: Refused): void
  hasRoom(): boolean
  whenReady(run: () => void): void
}

export interface OutParts {
  statusOf: StatusWriter
  /** The call ended because its client does not read. */
  onUnread(): void
}

export function outOf(call: Writing, { statusOf, onUnread }: OutParts): CallOut {
  let [messages, chars] = [0, 0]
  let isEnded = false
  let onReady = () => {}
  // A call that is cancelled in the middle of a write is no error of this server.
  call.on('error', () => {})
  const hasRoom = () => messages < MESSAGES_WAITING

  function fail(failure: Refused): void {
    if (isEnded) return
    isEnded = true
    call.emit('error', statusOf(failure))
  }

  return {
    out: {
      write(message, length) {
        if (isEnded || call.cancelled) return true
        messages++
        chars += length
        call.write(message, () => {
          messages--
          chars -= length
          if (messages === MESSAGES_WAITING - 1) onReady()
        })
        if (chars > UNREAD_CHARS_MAX) {
          onUnread()
          // The stream keeps its place until the client has read the rest or is gone: that is memory of this process.
          fail(READS_TOO_SLOWLY)
        }
        return hasRoom()
      },
      end: fail,
    },
    fail,
    hasRoom,
    whenReady(run) {
      onReady = run
    },
  }
}
