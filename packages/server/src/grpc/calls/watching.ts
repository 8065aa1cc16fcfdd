// Watches users over gRPC: a fixed list, or one that the client changes. A call is a connection with a sink, like a
// server-sent event stream. A reader that is too slow makes the sink full, and the outbox keeps only the newest state
// of each target until there is room.
import { type Failure, IDS_PER_QUERY_MAX } from '@greendot/protocol'
import type { StreamConnection, StreamEnd, StreamSink, Streams } from '../../gateway/sessions/connections.ts'
import { stateFrames } from '../../gateway/watching/watching.ts'
import { idsFrame, parse, watchFrame } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tally } from '../../platform/measuring/tally.ts'
import type { CallStream, Calls, Message, OpenedCall, Out, Refused, User } from '../call.ts'
import { toEvent } from '../messages.ts'

/** The name of the limit in the metrics. */
const REQUESTS = 'watch_requests'
/** How soon a client may come back when this process goes away. */
const RECONNECT_SECONDS = 1

/** About the length of a message without states. */
const SHORT = 100

const NO_USERS: Failure = { code: 'bad_request', message: 'name the users in user_ids' }
const NO_ACTION: Failure = { code: 'unknown_type', message: 'send watch, unwatch or watch_contacts' }
const TOO_MANY: Failure = {
  code: 'too_many_ids',
  message: `at most ${IDS_PER_QUERY_MAX} ids a call; split the list`,
}

export interface WatchingCallsParts {
  streams: Streams
  framesPerSecond: number
  tally: Tally
  clock: Clock
}

type Take = (stream: StreamConnection, request: Message) => Promise<Refused | null>

export function watchingCalls({ streams, framesPerSecond, tally, clock }: WatchingCallsParts): Calls {
  tally.rateLimited.announce([REQUESTS])

  async function open(
    { userId, expiresAt: tokenExpiresAt, issuedAt: tokenIssuedAt }: User,
    out: Out,
    taking: (out: Out) => Take,
  ): Promise<OpenedCall> {
    const connected = await streams.connect({ userId, tokenExpiresAt, tokenIssuedAt, sink: sinkOf(out) })
    if (!connected.ok) return connected
    const { stream } = connected
    const take = taking(out)
    const callStream: CallStream = {
      take: (request) => take(stream, request),
      finish: () => null,
      ready: stream.unblock,
      close: stream.close,
    }
    return { ok: true, stream: callStream }
  }

  return {
    SubscribePresence: {
      kind: 'push',
      who: 'user',
      takesMany: false,
      open: (caller, out) =>
        open(caller, out, () => async (stream, request) => {
          const isEmpty = (request.user_ids as readonly string[]).length === 0
          return isEmpty ? NO_USERS : watch(stream, request, out)
        }),
    },
    Watch: {
      kind: 'push',
      who: 'user',
      takesMany: true,
      open: (caller, out) =>
        open(caller, out, () => {
          const isTooFast = createPace(framesPerSecond, clock)
          return async (stream, request) => {
            if (!isTooFast()) return change(stream, request, out)
            tally.rateLimited.add(REQUESTS)
            return tooFast(framesPerSecond)
          }
        }),
    },
  }
}

/** Adds users to the list and sends their states. */
async function watch(stream: StreamConnection, request: Message, out: Out): Promise<Failure | null> {
  const parsed = parse(watchFrame, { user_ids: request.user_ids, known: request.known ?? {} })
  if (!parsed.ok) return parsed.failure
  const { user_ids: userIds, known } = parsed.value
  if (userIds.length > IDS_PER_QUERY_MAX) return TOO_MANY
  const failure = stream.limitFailure(userIds)
  if (failure !== null) return failure
  const states = await stream.watch(userIds, known)
  const frames = states === null ? [] : [...stateFrames(states)]
  for (const [position, frame] of frames.entries())
    out.write(toEvent(frame, position === frames.length - 1)!, frame.length)
  return null
}

/** A refused change is told, and the stream goes on. */
async function change(stream: StreamConnection, request: Message, out: Out): Promise<null> {
  const failure = await carryOut(stream, request, out)
  if (!stream.isOpen()) return null
  const ref = request.ref as number
  if (failure !== null) out.write({ refused: { ref, code: failure.code, message: failure.message } }, SHORT)
  else if (ref !== 0) out.write({ done: { ref } }, SHORT)
  return null
}

async function carryOut(stream: StreamConnection, request: Message, out: Out): Promise<Failure | null> {
  switch (request.action) {
    case 'watch':
      return watch(stream, request.watch as Message, out)
    case 'unwatch': {
      const parsed = parse(idsFrame, request.unwatch)
      if (!parsed.ok) return parsed.failure
      stream.unwatch(parsed.value.user_ids)
      return null
    }
    case 'watch_contacts':
      return stream.followContacts()
    default:
      return NO_ACTION
  }
}

/** Counts requests; true when there are more in a second than may be. */
function createPace(perSecond: number, clock: Clock): () => boolean {
  let [second, count] = [0, 0]
  return () => {
    const now = Math.floor(clock.now() / 1000)
    count = now === second ? count + 1 : 1
    second = now
    return count > perSecond
  }
}

function tooFast(perSecond: number): Refused {
  const message = `more than ${perSecond} requests a second; slow down`
  return { code: 'rate_limited', message, retryAfterSeconds: 1 }
}

function sinkOf(out: Out): StreamSink {
  return {
    send(frame) {
      const event = toEvent(frame)
      return event === null || out.write(event, frame.length) ? 1 : -1
    },
    end: (why, failure) => out.end(failure ?? ENDS[why]),
  }
}

const ENDS: Readonly<Record<StreamEnd, Refused>> = {
  'token expired': { code: 'token_expired', message: 'The token has expired: get a new one' },
  'user erased': { code: 'unauthorized', message: 'everything about this user was erased' },
  disconnected: { code: 'forbidden', message: 'disconnected by the app' },
  'going away': {
    code: 'unavailable',
    message: 'this server is going away; connect again',
    retryAfterSeconds: RECONNECT_SECONDS,
  },
}
