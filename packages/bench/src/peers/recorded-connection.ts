// A line that writes down what it is told, for tests of the talks and of the wires.
import type { LineEvents, LineOptions } from '../wires/wire.ts'

export interface RecordedLine extends LineOptions {
  /** What happened, in order: `ready`, `frame 1`, `delivery 7 3`, `gone 7`, `error …`, `close`. */
  happened: string[]
}

export function recordedLine(
  user: number,
  contacts: readonly number[],
  isExact = true,
  onEvent: (what: string) => void = () => {},
): RecordedLine {
  const happened: string[] = []
  const record = (what: string) => {
    happened.push(what)
    onEvent(what)
  }
  const events: LineEvents = {
    onReady: () => record('ready'),
    onDelivery: (whom, serial) => record(`delivery ${whom} ${serial}`),
    onFrame: (_, updates) => record(`frame ${updates}`),
    onOwnFrame: () => {},
    onGone: (whom) => record(`gone ${whom}`),
    onBytes: () => {},
    onSent: () => {},
    onError: (what) => record(`error ${what}`),
    onClose: () => record('close'),
  }
  return { user, contacts, isExact, events, happened }
}
