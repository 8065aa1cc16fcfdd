// What a call is: its callers, its limit and its handler, declared once. Handlers take and return plain objects with
// the field names of the .proto, and know nothing of the transport.
import type { Failure } from '@greendot/protocol'
import type { Caller } from '../http/access/auth.ts'
import type { RetriableFailure } from '../http/access/throttle.ts'

export type User = Extract<Caller, { kind: 'user' }>
export type Refused = Failure | RetriableFailure
/** A decoded message. */
export type Message = Readonly<Record<string, unknown>>
/** Stands for a request that could not be decoded. Every other message is another object. */
export const UNDECODABLE: Message = Object.freeze({})

export type Reply = { ok: true; message: Message } | { ok: false; failure: Refused }

export const replied = (message: Message): Reply => ({ ok: true, message })
export const refused = (failure: Refused): Reply => ({ ok: false, failure })

/** Where the messages of a stream go. */
export interface Out {
  /**
   * False when the client reads too slowly: what is written is kept, but take a rest until `ready`. `length` says about
   * how many characters it has.
   */
  write(message: Message, length: number): boolean
  /** Ends the call from this side. */
  end(failure: Refused): void
}

/** A call with a stream of requests or of answers, while it is open. */
export interface CallStream {
  /** One request. A failure ends the call. */
  take(request: Message): Promise<Refused | null>
  /** The client has sent everything: the last answer, if the call has one. */
  finish(): Message | null
  /** The client has read enough. */
  ready(): void
  /** The call is over, for whatever reason. May be called again. */
  close(): void
}

export type OpenedCall = { ok: true; stream: CallStream } | { ok: false; failure: Refused }

export type Call =
  | {
      kind: 'unary'
      who: 'caller'
      /** Calls by users count towards this limit, whether they succeed or not. */
      limit: 'read' | 'write' | null
      run(caller: Caller, request: Message): Promise<Reply>
    }
  | { kind: 'upload'; who: 'caller'; open(caller: Caller): CallStream }
  | {
      kind: 'push'
      who: 'user'
      /** Whether the client sends more than one request. */
      takesMany: boolean
      open(caller: User, out: Out): Promise<OpenedCall>
    }

/** By the name of the method. */
export type Calls = Readonly<Record<string, Call>>
