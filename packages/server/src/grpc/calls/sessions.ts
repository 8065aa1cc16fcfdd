// Heartbeats and goodbyes over gRPC, for clients without a WebSocket and for connection servers of the app. The
// sessions are those of HTTP heartbeats.
import { type Failure, FOREIGN_ENTRIES_MAX } from '@greendot/protocol'
import type { ForeignRouting } from '../../foreign/routing.ts'
import type { HttpSessions } from '../../gateway/sessions/connections.ts'
import type { Caller } from '../../http/access/auth.ts'
import type { Throttle } from '../../http/access/throttle.ts'
import { createForeignBatches } from '../../http/foreign-batches.ts'
import { createHeartbeats, type RecordedHeartbeat } from '../../http/heartbeats.ts'
import { heartbeatBody, leaveBody, type Parsed, parse, userId } from '../../input/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tally } from '../../platform/measuring/tally.ts'
import type { Policy } from '../../presence/core/policy.ts'
import { type Disconnects, TOKEN_REFUSED } from '../../presence/people/disconnects.ts'
import { Unavailable } from '../../presence/unavailable.ts'
import { type CallStream, type Calls, type Message, type Refused, refused, replied } from '../call.ts'
import { toOwnMessage, wordOf } from '../messages.ts'
import { subjectOf } from '../subject.ts'

/** The others are only counted. */
const REJECTIONS_NAMED_MAX = 1_000

const TOO_MANY: Failure = {
  code: 'too_many_ids',
  message: `at most ${FOREIGN_ENTRIES_MAX} entries a message; send several`,
}
const tooManyOfUser = (sessionsPerUser: number): Failure => ({
  code: 'too_many_ids',
  message: `at most ${sessionsPerUser} entries a message with a user token: a user has no more sessions`,
})
const TOKEN_EXPIRED: Failure = { code: 'token_expired', message: 'The token has expired: get a new one' }

const UNAVAILABLE: Failure = { code: 'unavailable', message: 'presence cannot be reached; send it again' }
const ONLY_SERVERS: Failure = { code: 'forbidden', message: 'gateway_id needs a server key' }
const NO_GATEWAY: Failure = { code: 'bad_request', message: 'disconnected needs gateway_id' }

export interface SessionCallsParts {
  foreign: Pick<ForeignRouting, 'record'>
  tally: Tally
  httpSessions: HttpSessions
  throttle: Throttle
  sessionsPerUser: number
  disconnects: Pick<Disconnects, 'isRefused'>
  policy: Policy
  clock: Clock
  /** For the instants in tokens. */
  tokenClock: Pick<Clock, 'now'>
}

const foreignGatewayOf = (caller: Caller, gatewayId: unknown): Parsed<string> =>
  caller.kind === 'server' ? parse(userId, gatewayId) : { ok: false, failure: ONLY_SERVERS }

const toForeignSession = ({ user_id, device_id, platform, activity, at }: Message): Message => ({
  user_id,
  device_id,
  platform: wordOf('PLATFORM', platform),
  activity: wordOf('ACTIVITY', activity),
  at,
})

/** An entry that cannot be recorded now must not end the stream of all others. */
function refusedEntry(error: unknown): { ok: false; failure: Failure } {
  if (!(error instanceof Unavailable)) throw error
  return { ok: false, failure: UNAVAILABLE }
}

export function sessionCalls(parts: SessionCallsParts): Calls {
  const { httpSessions, throttle, sessionsPerUser, disconnects, policy, clock, tokenClock } = parts
  const heartbeats = createHeartbeats({ httpSessions, throttle })
  const recordBatch = createForeignBatches(parts)

  async function record(caller: Caller, request: Message): Promise<Parsed<string> & RecordedHeartbeat> {
    const subject = subjectOf(caller, request)
    if (!subject.ok) return subject
    const body = parse(heartbeatBody, {
      device_id: request.device_id,
      platform: wordOf('PLATFORM', request.platform),
      activity: wordOf('ACTIVITY', request.activity),
    })
    if (!body.ok) return body
    const { device_id: deviceId, platform, activity } = body.value
    const token =
      caller.kind === 'user'
        ? { tokenExpiresAt: caller.expiresAt, tokenIssuedAt: caller.issuedAt }
        : { tokenExpiresAt: null }
    const heartbeat = { userId: subject.value, deviceId, platform, activity, ...token }
    const recorded = await heartbeats.record(heartbeat, caller.kind)
    return recorded.ok ? { ...recorded, value: subject.value } : recorded
  }

  /** An upload may be open for longer than its token is good. */
  function tokenFailure(caller: Caller): Failure | null {
    if (caller.kind !== 'user') return null
    if ((caller.expiresAt ?? Infinity) <= tokenClock.now()) return TOKEN_EXPIRED
    return disconnects.isRefused(caller.userId, caller.issuedAt) ? TOKEN_REFUSED : null
  }

  function upload(caller: Caller): CallStream {
    let [taken, accepted] = [0, 0]
    const rejections: Message[] = []

    function reject(index: number, { code, message }: Refused): void {
      if (rejections.length < REJECTIONS_NAMED_MAX) rejections.push({ index, code, message })
    }

    return {
      async take({ heartbeats: batch, disconnected, gateway_id: gatewayId }) {
        const failure = tokenFailure(caller)
        if (failure !== null) return failure
        const sent = batch as readonly Message[]
        const over = disconnected as readonly Message[]
        if (sent.length + over.length > FOREIGN_ENTRIES_MAX) return TOO_MANY
        // Each may cost a command of the store, and one message is no more work than as many calls.
        if (caller.kind === 'user' && sent.length > sessionsPerUser) return tooManyOfUser(sessionsPerUser)
        const first = taken
        taken += sent.length + over.length
        if (gatewayId !== '') {
          const parsed = foreignGatewayOf(caller, gatewayId)
          if (!parsed.ok) return parsed.failure
          const recorded = await recordBatch({
            gatewayId: parsed.value,
            sessions: sent.map(toForeignSession),
            disconnected: over,
          })
          accepted += recorded.accepted
          for (const { index, ...refused } of recorded.rejected) reject(first + index, refused)
          return null
        }
        if (over.length > 0) return NO_GATEWAY
        // At once: what they change becomes one batch of the tracker.
        const recorded = await Promise.all(
          sent.map((heartbeat) => record(caller, heartbeat).catch(refusedEntry)),
        )
        for (const [position, one] of recorded.entries()) {
          if (one.ok) accepted++
          else reject(first + position, one.failure)
        }
        return null
      },
      finish: () => ({ accepted, rejected: taken - accepted, rejections }),
      ready() {},
      close() {},
    }
  }

  return {
    RecordHeartbeat: {
      kind: 'unary',
      who: 'caller',
      // One that changes something counts as a write.
      limit: null,
      async run(caller, request) {
        const recorded = await record(caller, request)
        if (!recorded.ok) return refused(recorded.failure)
        const { awayAfterMs, ownView } = recorded.state
        return replied({
          user_id: recorded.value,
          heartbeat_interval_ms: policy.heartbeatIntervalMs,
          heartbeat_ttl_ms: policy.heartbeatTtlMs,
          away_after_ms: awayAfterMs,
          server_time: clock.now(),
          ...(ownView === null ? {} : { self: toOwnMessage(JSON.parse(ownView)) }),
        })
      },
    },
    RecordHeartbeats: { kind: 'upload', who: 'caller', open: upload },
    Leave: {
      kind: 'unary',
      who: 'caller',
      limit: 'write',
      async run(caller, request) {
        const subject = subjectOf(caller, request)
        if (!subject.ok) return refused(subject.failure)
        const body = parse(leaveBody, { device_id: request.device_id })
        if (!body.ok) return refused(body.failure)
        await httpSessions.leave(subject.value, body.value.device_id)
        return replied({})
      },
    },
  }
}
