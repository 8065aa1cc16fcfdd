// A runtime with the clock and randomness of a test, and connections whose server is the test.
import type { ClientFrame } from '@greendot/protocol'
import type { CloseReason, Dial, Incoming, Ticket, Welcome } from '../src/connection/transport.ts'
import type { Runtime } from '../src/platform.ts'

type Clock = Pick<Runtime, 'now' | 'after' | 'every'>

export function runtimeOf(clock: Clock, overrides: Partial<Runtime> = {}): Runtime {
  let names = 0
  return {
    ...clock,
    random: () => 0.5,
    newName: () => `name-${++names}`,
    fetch: () => Promise.reject(new Error('no network in this test')),
    WebSocket: undefined,
    window: null,
    locks: undefined,
    BroadcastChannel: undefined,
    ...overrides,
  }
}

/** A connection from the side of the server. */
export interface Dialled {
  ticket: Ticket
  sent: ClientFrame[]
  isClosed: boolean
  /** Answers `ok` to every frame with a `ref`. */
  isAgreeing: boolean
  say(frame: Incoming): void
  welcome(about?: Partial<Welcome>): void
  end(why: CloseReason): void
}

export interface ScriptedDial {
  dial: Dial
  calls: Dialled[]
  last(): Dialled
}

export function scriptedDial(): ScriptedDial {
  const calls: Dialled[] = []
  return {
    calls,
    last: () => calls.at(-1)!,
    dial(ticket, on) {
      const call: Dialled = {
        ticket,
        sent: [],
        isClosed: false,
        isAgreeing: false,
        say: (frame) => void (call.isClosed || on.frame(frame)),
        welcome: (about) => call.say({ ...WELCOME, session_id: `session-${calls.length}`, ...about }),
        end(why) {
          if (call.isClosed) return
          call.isClosed = true
          on.closed(why)
        },
      }
      calls.push(call)
      return {
        send(frame) {
          call.sent.push(frame)
          const { ref } = frame
          if (call.isAgreeing && ref !== undefined) queueMicrotask(() => call.say({ type: 'ok', ref }))
        },
        close() {
          call.isClosed = true
        },
      }
    },
  }
}

const WELCOME: Welcome = {
  type: 'welcome',
  session_id: 'session',
  user_id: 'alice',
  device_id: 'laptop',
  server_time: 0,
  heartbeat_interval_ms: 15_000,
  heartbeat_ttl_ms: 30_000,
  away_after_ms: 300_000,
  self: null,
}
