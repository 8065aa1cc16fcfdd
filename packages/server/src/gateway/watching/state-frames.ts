// The answer to a watch, as frames, and its limit: the same for users that the client names and for users
// in a contact list.
import type { Failure } from '@greendot/protocol'
import { chunksOf } from '../../platform/chunks.ts'
import { type Encoding, stateFrame } from '../delivery/delivery.ts'

const STATES_PER_FRAME_MAX = 500

/** One frame even when there is nothing to say: it is an answer. */
export function* stateFrames(states: readonly string[], encoding: Encoding = 'json'): Generator<string> {
  if (states.length === 0) yield stateFrame(states, encoding)
  for (const some of chunksOf(states, STATES_PER_FRAME_MAX)) yield stateFrame(some, encoding)
}

export function watchLimitFailure(total: number, watchLimit: number): Failure {
  const message = `at most ${watchLimit} watched users per connection; this would make ${total}`
  return { code: 'watch_limit', message }
}
