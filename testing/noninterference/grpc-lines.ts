// What the users of a history do over gRPC, without a network: their calls and streams go through the guard of the
// calls as the library would take them there, and every message and every end is recorded.
import type { Presence } from '@greendot/protocol'
import type { CallStream, Message, Out, Refused } from '../../packages/server/src/grpc/call.ts'
import type { World } from './world.ts'

export type StreamMethod = 'SubscribePresence' | 'Watch'

type Recorder = (text: string) => void

export interface GrpcLinesParts {
  world: World
  /** Begins a line; returns the way to record an entry of it. */
  newLine(name: string): Recorder
  /** The user was told of these. */
  learn(told: readonly Pick<Presence, 'user_id' | 'version'>[]): void
}

/** The gRPC calls of one user. */
export interface GrpcLines {
  call(method: string, token: string | null, message: Message): Promise<void>
  /** Opens a stream in place of the one of that kind before. */
  open(method: StreamMethod, token: string): Promise<void>
  hasOpen(method: StreamMethod): boolean
  /** A request on the stream; nothing where there is none. */
  ask(method: StreamMethod, message: Message): Promise<void>
  endAll(): void
}

type Told = readonly Pick<Presence, 'user_id' | 'version'>[]

export function createGrpcLines({ world, newLine, learn }: GrpcLinesParts): GrpcLines {
  const streams = new Map<StreamMethod, { stream: CallStream; record: Recorder }>()

  function close(method: StreamMethod): void {
    const open = streams.get(method)
    streams.delete(method)
    open?.stream.close()
  }

  const ended = ({ code, message }: Refused) => `end ${code} ${message}`

  function hear(record: Recorder, message: Message): void {
    const { changes } = (message.changes ?? {}) as { changes?: Told }
    const { states = [] } = (message.snapshot ?? {}) as { states?: Told }
    learn(changes ?? states)
    // Changes are compared as in the frames of other interfaces.
    record(JSON.stringify(changes === undefined ? message : { type: 'presence_change', changes }))
  }

  /** A stream of one message, which the client ends at once. */
  async function upload(record: Recorder, token: string | null, message: Message): Promise<void> {
    const opened = await world.grpc().open('RecordHeartbeats', token, { write: () => true, end: () => {} })
    if (!opened.ok) return record(ended(opened.failure))
    const failure = await opened.stream.take(message)
    record(failure === null ? JSON.stringify(opened.stream.finish()) : ended(failure))
  }

  return {
    async call(method, token, message) {
      const record = newLine(`gRPC ${method}`)
      if (method === 'RecordHeartbeats') return upload(record, token, message)
      record(JSON.stringify(await world.grpc().answer(method, token, message)))
    },
    async open(method, token) {
      close(method)
      const record = newLine(`gRPC ${method}`)
      const out: Out = {
        write(message) {
          hear(record, message)
          return true
        },
        end(failure) {
          streams.delete(method)
          record(ended(failure))
        },
      }
      const opened = await world.grpc().open(method, token, out)
      if (opened.ok) streams.set(method, { stream: opened.stream, record })
      else record(ended(opened.failure))
    },
    hasOpen: (method) => streams.has(method),
    async ask(method, message) {
      const open = streams.get(method)
      if (open === undefined) return
      const failure = await open.stream.take(message)
      if (failure === null) return
      open.record(ended(failure))
      if (streams.get(method) === open) close(method)
    },
    endAll() {
      for (const method of [...streams.keys()]) close(method)
    },
  }
}
