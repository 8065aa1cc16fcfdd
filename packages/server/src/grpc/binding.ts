// Binds the calls to the library: metadata, messages and the end of each call. Requests of one stream are taken one
// after the other, and none while its answers wait to be read.
import type {
  handleUnaryCall,
  ServerDuplexStream,
  ServerReadableStream,
  ServerWritableStream,
  sendUnaryData,
  UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { tokenInHeader } from '../http/access/auth.ts'
import type { Tally } from '../platform/measuring/tally.ts'
import type { Call, CallStream, Message, Out, Refused } from './call.ts'
import type { CallGuard } from './call-guard.ts'
import { outOf } from './out.ts'
import type { StatusWriter } from './status.ts'

const GOING_AWAY: Refused = {
  code: 'unavailable',
  message: 'this server is going away; connect again',
  retryAfterSeconds: 1,
}

type Duplex = ServerDuplexStream<Message, Message>
type Writable = ServerWritableStream<Message, Message>
type Readable = ServerReadableStream<Message, Message>

export interface BindingParts {
  guard: CallGuard
  statusOf: StatusWriter
  tally: Tally
}

export interface Binding {
  handlerOf(method: string, call: Call): UntypedServiceImplementation[string]
  /** Ends uploads, so that their clients go on elsewhere. Other streams end with the connections of the gateway. */
  drain(): void
}

const tokenOf = ({ metadata }: Pick<Duplex, 'metadata'>): string | null =>
  tokenInHeader(String(metadata.get('authorization')[0] ?? ''))

/** How each kind of method is served. */
export function createBinding({ guard, statusOf, tally }: BindingParts): Binding {
  const outParts = { statusOf, onUnread: () => void tally.slowReadersEnded++ }
  /** The ends of those that are open. */
  const uploads = new Set<() => void>()

  function unary(method: string): handleUnaryCall<Message, Message> {
    return async (call, answer) => {
      const reply = await guard.answer(method, tokenOf(call), call.request)
      if (reply.ok) answer(null, reply.message)
      else answer(statusOf(reply.failure))
    }
  }

  /** One request, many answers. */
  function pushing(method: string): (call: Writable) => Promise<void> {
    return async (call) => {
      const { out, fail, whenReady } = outOf(call, outParts)
      const opened = await guard.open(method, tokenOf(call), out)
      if (!opened.ok) return fail(opened.failure)
      const { stream } = opened
      if (!closesWith(call, stream)) return
      whenReady(stream.ready)
      const failure = await stream.take(call.request)
      if (failure === null) return
      // A client that does not read must not keep the place of the stream.
      stream.close()
      fail(failure)
    }
  }

  /** Many requests, many answers, until the client ends its side. */
  function talking(method: string): (call: Duplex) => Promise<void> {
    return async (call) => {
      const { out, fail, whenReady, hasRoom } = outOf(call, outParts)
      // Before anything is awaited: requests wait in the stream until they are taken.
      call.pause()
      const opened = await guard.open(method, tokenOf(call), out)
      if (!opened.ok) return fail(opened.failure)
      const { stream } = opened
      if (!closesWith(call, stream)) return
      const reading = readOneByOne(call, stream, { fail, mayRead: hasRoom, finish: () => call.end() })
      whenReady(() => {
        stream.ready()
        reading.goOn()
      })
    }
  }

  /** Many requests, one answer. */
  function uploading(method: string): (call: Readable, answer: sendUnaryData<Message>) => Promise<void> {
    return async (call, answer) => {
      let isAnswered = false
      const once = (send: () => void): void => {
        if (isAnswered) return
        isAnswered = true
        uploads.delete(end)
        send()
      }
      const fail = (failure: Refused) => once(() => answer(statusOf(failure)))
      const end = () => fail(GOING_AWAY)
      call.on('error', () => {})
      call.pause()
      const opened = await guard.open(method, tokenOf(call), NO_OUT)
      if (!opened.ok) return fail(opened.failure)
      const { stream } = opened
      call.once('cancelled', () => once(() => {}))
      if (!closesWith(call, stream)) return
      uploads.add(end)
      const finish = () => once(() => answer(null, stream.finish()))
      readOneByOne(call, stream, { fail, mayRead: () => !isAnswered, finish })
    }
  }

  return {
    handlerOf(method, call) {
      switch (call.kind) {
        case 'unary':
          return unary(method)
        case 'upload':
          return uploading(method)
        case 'push':
          return call.takesMany ? talking(method) : pushing(method)
      }
    },
    drain() {
      for (const end of uploads) end()
    },
  }
}

const NO_OUT: Out = { write: () => true, end: () => {} }

/** False when the call is over already. */
function closesWith(call: Duplex | Writable | Readable, stream: CallStream): boolean {
  if (call.cancelled) {
    stream.close()
    return false
  }
  for (const event of ['cancelled', 'close', 'finish']) call.once(event, stream.close)
  return true
}

interface ReadingRules {
  fail(failure: Refused): void
  /** Whether the next request may be taken now. */
  mayRead(): boolean
  finish(): void
}

/** Hands on one request at a time, in their order, and the end after the last. */
function readOneByOne(call: Duplex | Readable, stream: CallStream, rules: ReadingRules) {
  let isTaking = false
  let isOver = false

  async function take(request: Message): Promise<void> {
    isTaking = true
    call.pause()
    const failure = await stream.take(request)
    isTaking = false
    if (failure !== null) {
      isOver = true
      // A client that does not read must not keep the place of the stream.
      stream.close()
      rules.fail(failure)
    } else if (isOver) rules.finish()
    else goOn()
  }

  function goOn(): void {
    if (!isTaking && !isOver && rules.mayRead()) call.resume()
  }

  call.on('data', (request: Message) => void take(request))
  call.on('end', () => {
    isOver = true
    if (!isTaking) rules.finish()
  })
  goOn()
  return { goOn }
}
