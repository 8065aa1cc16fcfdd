// A connection that records its events, for tests of the dialogues and of the wires.
import type { ConnectionEvents, ConnectionOptions } from '../src/wires/wire.ts'

export interface RecordedConnection extends ConnectionOptions {
  /** What happened, in order: `ready`, `frame 1`, `delivery 7 3`, `gone 7`, `error …`, `close`. */
  happened: string[]
}

export function recordedConnection(
  user: number,
  contacts: readonly number[],
  isExact = true,
  onEvent: (what: string) => void = () => {},
): RecordedConnection {
  const happened: string[] = []
  const record = (what: string) => {
    happened.push(what)
    onEvent(what)
  }
  const events: ConnectionEvents = {
    onReady: () => record('ready'),
    onDelivery: (target, serial) => record(`delivery ${target} ${serial}`),
    onFrame: (_, updates) => record(`frame ${updates}`),
    onOwnFrame: () => {},
    onGone: (target) => record(`gone ${target}`),
    onBytes: () => {},
    onSent: () => {},
    onError: (what) => record(`error ${what}`),
    onClose: () => record('close'),
  }
  return { user, contacts, isExact, events, happened }
}
