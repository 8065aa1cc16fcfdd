// The answer to a watch, as frames, and its limit: the same for users that the client names and for users
// in a contact list.
import type { Failure } from '@greendot/protocol'
import { type Encoding, stateFrame } from '../delivery/delivery.ts'

const STATES_PER_FRAME_MAX = 500

/** One frame even when there is nothing to say: it is an answer. */
export function* stateFrames(states: readonly string[], encoding: Encoding = 'json'): Generator<string> {
  for (let from = 0; from === 0 || from < states.length; from += STATES_PER_FRAME_MAX) {
    yield stateFrame(states.slice(from, from + STATES_PER_FRAME_MAX), encoding)
  }
}

export function watchLimitFailure(total: number, watchLimit: number): Failure {
  const message = `at most ${watchLimit} watched users per connection; this would make ${total}`
  return { code: 'watch_limit', message }
}
