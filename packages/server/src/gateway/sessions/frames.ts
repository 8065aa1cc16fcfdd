// What a client may say, frame by frame. Decoding never throws and a bad frame changes nothing.
// Heartbeats do not come through here: the socket recognises them by their bytes.

import { type Failure, FRAME_BYTES_MAX, type Ref } from '@greendot/protocol'
import { isTooDeep, TOO_DEEP } from '../../input/json-depth.ts'
import {
  activity,
  availabilityBody,
  customStatusBody,
  idsFrame,
  parse,
  watchFrame,
} from '../../input/schemas.ts'
import type { Actions } from '../../presence/people/actions.ts'
import { type Delivery, NAMED } from '../delivery/delivery.ts'
import { stateFrames, type Watching } from '../watching/watching.ts'
import type { Sessions } from './sessions.ts'

export interface RawFrame {
  type: string
  ref: Ref | null
  body: Record<string, unknown>
}

/** What came of a frame: fine, refused, or the last word of this session. */
export type FrameResult = { result: 'ok' } | { result: 'failed'; failure: Failure } | { result: 'left' }

const OK: FrameResult = { result: 'ok' }
const failed = (failure: Failure): FrameResult => ({ result: 'failed', failure })
const REF_CHARS_MAX = 128

/** A failure goes out field by field, so the ref of a frame that was bad otherwise goes with it. */
export type Decoded = { ok: true; value: RawFrame } | { ok: false; failure: Failure & { ref?: Ref } }

export function decodeFrame(message: string | Buffer): Decoded {
  const bad = (why: string, ref?: Ref | null): Decoded => ({
    ok: false,
    failure: { code: 'bad_frame', message: why, ...(ref === undefined || ref === null ? {} : { ref }) },
  })
  if (typeof message !== 'string') return bad('frames are JSON text, not binary')
  if (message.length > FRAME_BYTES_MAX) return bad('the frame is too large')
  if (isTooDeep(message)) return bad(`the frame is ${TOO_DEEP}`)
  let body: unknown
  try {
    body = JSON.parse(message)
  } catch {
    return bad('the frame is not valid JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return bad('a frame is a JSON object')
  const { type, ref: said } = body as Record<string, unknown>
  const ref = isRef(said) ? said : null
  if (typeof type !== 'string') return bad('a frame has a string `type`', ref)
  return { ok: true, value: { type, ref, body: body as Record<string, unknown> } }
}

// JSON can write numbers that become infinite, and those could not be given back.
const isRef = (said: unknown): said is Ref =>
  Number.isFinite(said) || (typeof said === 'string' && said.length <= REF_CHARS_MAX)

/** A client that sends a ref waits for an answer with it, so a ref that cannot be echoed is refused. */
function refFailure({ ref, body }: RawFrame): Failure | null {
  const isNone = body.ref === undefined || body.ref === null
  if (ref !== null || isNone) return null
  return { code: 'bad_request', message: `ref is a number or a string of up to ${REF_CHARS_MAX} characters` }
}

export interface FrameHandlerParts {
  sessions: Sessions
  watching: Watching
  delivery: Delivery
  actions: Actions
}

/** Handles one decoded frame of the session in `row`; `isOpen` tells whether it still is that session. */
export type FrameHandler = (row: number, frame: RawFrame, isOpen: () => boolean) => Promise<FrameResult>

export function createFrameHandler(parts: FrameHandlerParts): FrameHandler {
  const { sessions, watching, delivery, actions } = parts

  async function watch(
    row: number,
    userIds: readonly string[],
    known: Readonly<Record<string, number>>,
    isOpen: () => boolean,
  ): Promise<FrameResult> {
    const failure = watching.limitFailure(row, userIds)
    if (failure !== null) return failed(failure)
    const states = await watching.watch(row, userIds, { known, reason: NAMED, isOpen })
    if (states === null) return OK
    for (const frame of stateFrames(states, delivery.encodingOf(row))) delivery.send(row, frame)
    return OK
  }

  return async (row, frame, isOpen) => {
    const { type, body } = frame
    const unanswerable = refFailure(frame)
    if (unanswerable !== null) return failed(unanswerable)
    const userId = sessions.userIdOf(row)
    switch (type) {
      case 'heartbeat': {
        const parsed = parse(activity, body.activity ?? body.activity_type)
        if (!parsed.ok) return failed(parsed.failure)
        sessions.heartbeat(row, parsed.value)
        return OK
      }
      case 'watch': {
        const parsed = parse(watchFrame, body)
        if (!parsed.ok) return failed(parsed.failure)
        return watch(row, parsed.value.user_ids, parsed.value.known, isOpen)
      }
      case 'watch_contacts': {
        const failure = await watching.followContacts(row, isOpen)
        return failure === null ? OK : failed(failure)
      }
      case 'unwatch': {
        const parsed = parse(idsFrame, body)
        if (!parsed.ok) return failed(parsed.failure)
        watching.unwatch(row, parsed.value.user_ids)
        return OK
      }
      case 'set_availability':
      case 'set_status': {
        const parsed = parse(availabilityBody, body)
        if (!parsed.ok) return failed(parsed.failure)
        const outcome = await actions.setAvailability(userId, parsed.value)
        return outcome.ok ? OK : failed(outcome.failure)
      }
      case 'set_custom_status': {
        const parsed = parse(customStatusBody, body)
        if (!parsed.ok) return failed(parsed.failure)
        const outcome = await actions.setCustomStatus(userId, parsed.value)
        return outcome.ok ? OK : failed(outcome.failure)
      }
      case 'leave':
        return { result: 'left' }
      default:
        return failed({ code: 'unknown_type', message: `no frame type "${type.slice(0, 64)}"` })
    }
  }
}
