// Stands before the calls as the guard stands before the routes: the caller, the rate and the form of the request are
// checked, and a handler runs only when all checks pass. An unexpected error becomes one failure and one log line.
import type { Failure } from '@greendot/protocol'
import type { Access } from '../http/access/access.ts'
import type { Caller } from '../http/access/auth.ts'
import type { LimitedCall } from '../http/access/throttle.ts'
import type { Logger } from '../platform/logger.ts'
import { Unavailable } from '../presence/unavailable.ts'
import {
  type Call,
  type CallStream,
  type Calls,
  type Message,
  type OpenedCall,
  type Out,
  type Refused,
  type Reply,
  UNDECODABLE,
} from './call.ts'

const RETRY_SECONDS = 1
const TRY_AGAIN = 'presence cannot be reached; try again soon'
const MALFORMED: Failure = {
  code: 'bad_request',
  message: 'the message is not of the type that this method takes, or has text that is not UTF-8',
}
const NO_SUCH_METHOD: Failure = { code: 'not_found', message: 'this process does not serve this method' }
const ONLY_USERS: Failure = {
  code: 'forbidden',
  message: 'this method acts for the user of the token; a server key has none',
}

type Admitted = { ok: true; caller: Caller } | { ok: false; failure: Refused }

export interface CallGuard {
  /** Those that this process serves. */
  methods: readonly string[]
  /** A call with one request. */
  answer(method: string, token: string | null, request: Message): Promise<Reply>
  /** A call with a stream of requests, of answers, or of both. */
  open(method: string, token: string | null, out: Out): Promise<OpenedCall>
}

export function createCallGuard(parts: { calls: Calls; access: Access; logger: Logger }): CallGuard {
  const { calls, logger } = parts
  const { authenticator, throttle } = parts.access

  function failureOf(error: unknown, method: string): Refused {
    if (error instanceof Unavailable)
      return { code: 'unavailable', message: error.advice ?? TRY_AGAIN, retryAfterSeconds: RETRY_SECONDS }
    logger.error({ err: error, method }, 'a gRPC call failed')
    return { code: 'internal', message: 'the call failed; the log has the reason' }
  }

  async function admit(call: Call, token: string | null): Promise<Admitted> {
    const caller = await authenticator.authenticate(token)
    if (caller.kind === 'refused') return { ok: false, failure: caller }
    if (call.who === 'user' && caller.kind !== 'user') return { ok: false, failure: ONLY_USERS }
    const limit = limitOf(call)
    if (limit === null || caller.kind !== 'user') return { ok: true, caller }
    // Before the request is looked at, so that invalid ones count too.
    const failure = await throttle.failureFor(limit, caller.userId)
    return failure === null ? { ok: true, caller } : { ok: false, failure }
  }

  /** A stream whose handler fails ends with one failure. */
  function watched(stream: CallStream, method: string): CallStream {
    return {
      ...stream,
      async take(request) {
        if (request === UNDECODABLE) return MALFORMED
        return stream.take(request).catch((error: unknown) => failureOf(error, method))
      },
    }
  }

  return {
    methods: Object.keys(calls),
    async answer(method, token, request) {
      const call = calls[method]
      if (call?.kind !== 'unary') return { ok: false, failure: NO_SUCH_METHOD }
      try {
        const admitted = await admit(call, token)
        if (!admitted.ok) return admitted
        if (request === UNDECODABLE) return { ok: false, failure: MALFORMED }
        return await call.run(admitted.caller, request)
      } catch (error) {
        return { ok: false, failure: failureOf(error, method) }
      }
    },
    async open(method, token, out) {
      const call = calls[method]
      if (call === undefined || call.kind === 'unary') return { ok: false, failure: NO_SUCH_METHOD }
      try {
        const admitted = await admit(call, token)
        if (!admitted.ok) return admitted
        const { caller } = admitted
        if (call.kind === 'upload') return { ok: true, stream: watched(call.open(caller), method) }
        if (caller.kind !== 'user') return { ok: false, failure: ONLY_USERS }
        const opened = await call.open(caller, out)
        return opened.ok ? { ok: true, stream: watched(opened.stream, method) } : opened
      } catch (error) {
        return { ok: false, failure: failureOf(error, method) }
      }
    },
  }
}

function limitOf(call: Call): LimitedCall | null {
  switch (call.kind) {
    case 'unary':
      return call.limit
    case 'upload':
      // Each of its heartbeats counts by itself.
      return null
    case 'push':
      // Opening one sends the state of every user in the list, so without a limit it would be polling.
      return 'stream'
  }
}
