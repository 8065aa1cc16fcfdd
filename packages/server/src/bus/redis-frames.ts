// The format of messages in Redis: a payload is lines, a few for each message. The JSON is on one line
// already and ids contain no white space, so nothing needs quoting.
import type { BusMessage } from './port.ts'

export type BusFrame =
  | { kind: 'messages'; messages: BusMessage[] }
  /** Messages to this gateway could not be sent. */
  | { kind: 'gap' }

export const GAP_PAYLOAD = 'gap'

/**
 * The first line of a message, and how many lines follow it. A message of another shape gets another mark:
 * a process that does not know a mark takes the payload for a gap, and heals.
 */
const CHANGE = { mark: 'c', lines: 5 } as const
const SELF = { mark: 'v', lines: 4 } as const
const SETTINGS = { mark: 'p', lines: 2 } as const
const ERASED = { mark: 'e', lines: 3 } as const
const GONE = { mark: 'g', lines: 3 } as const
const ANSWER = { mark: 'a', lines: 3 } as const
const DISCONNECT = { mark: 'd', lines: 2 } as const
const LEFT = { mark: 'l', lines: 3 } as const
const FOREIGN = { mark: 'f', lines: 3 } as const
const FOREIGN_ANSWER = { mark: 'r', lines: 2 } as const
/** The trace of the change that follows. Sent only where traces are on. */
const TRACE = { mark: 't', lines: 1 } as const
const LINES = new Map<string, number>(
  [CHANGE, SELF, SETTINGS, ERASED, GONE, ANSWER, DISCONNECT, LEFT, FOREIGN, FOREIGN_ANSWER, TRACE].map(
    ({ mark, lines }) => [mark, lines],
  ),
)

export function encodeMessages(messages: readonly BusMessage[]): string {
  let payload = ''
  for (const message of messages) {
    if (payload !== '') payload += '\n'
    payload += encode(message)
  }
  return payload
}

function encode(message: BusMessage): string {
  switch (message.kind) {
    case 'change': {
      const { userId, version, at, json, inputs, trace } = message
      // Most users have no privacy settings.
      const guarded = inputs === null ? '' : JSON.stringify(inputs)
      const traced = trace === undefined ? '' : `${TRACE.mark}\n${trace}\n`
      return `${traced}${CHANGE.mark}\n${userId}\n${version}\n${at}\n${json}\n${guarded}`
    }
    case 'self':
      return `${SELF.mark}\n${message.userId}\n${message.revision}\n${message.isInvisible ? 1 : 0}\n${message.json}`
    case 'settings':
      return `${SETTINGS.mark}\n${message.userId}\n${JSON.stringify(message.awayAfter)}`
    case 'answer':
      return `${ANSWER.mark}\n${message.userId}\n${message.ref}\n${JSON.stringify(message.answer)}`
    case 'disconnect':
      return `${DISCONNECT.mark}\n${message.userId}\n${JSON.stringify(message.disconnect)}`
    case 'left':
      return `${LEFT.mark}\n${message.userId}\n${message.deviceId}\n${message.at}`
    case 'foreign':
      return `${FOREIGN.mark}\n${message.from}\n${message.ref}\n${message.text}`
    case 'foreign_answer':
      return `${FOREIGN_ANSWER.mark}\n${message.ref}\n${JSON.stringify(message.rejections)}`
    case 'erased':
    case 'gone': {
      const { mark } = message.kind === 'erased' ? ERASED : GONE
      return `${mark}\n${message.userId}\n${message.version}\n${message.at}`
    }
  }
}

/** What cannot be read, such as a kind of message of a later version, counts as a gap. */
export function decodePayload(payload: string): BusFrame {
  if (payload === GAP_PAYLOAD) return { kind: 'gap' }
  const lines = payload.split('\n')
  const messages: BusMessage[] = []
  let trace: string | null = null
  for (let line = 0; line < lines.length; ) {
    const mark = lines[line]!
    const count = LINES.get(mark)
    if (count === undefined || line + count >= lines.length) return { kind: 'gap' }
    if (mark === TRACE.mark) trace = lines[line + 1]!
    else {
      const message = decode(mark, lines, line + 1)
      if (trace !== null && message.kind === 'change') message.trace = trace
      trace = null
      messages.push(message)
    }
    line += count + 1
  }
  return { kind: 'messages', messages }
}

function decode(mark: string, lines: readonly string[], from: number): BusMessage {
  const userId = lines[from]!
  switch (mark) {
    case CHANGE.mark: {
      const [version, at] = [Number(lines[from + 1]), Number(lines[from + 2])]
      const guarded = lines[from + 4]!
      const inputs = guarded === '' ? null : JSON.parse(guarded)
      return { kind: 'change', userId, version, at, json: lines[from + 3]!, inputs }
    }
    case SELF.mark:
      return {
        kind: 'self',
        userId,
        revision: Number(lines[from + 1]),
        isInvisible: lines[from + 2] === '1',
        json: lines[from + 3]!,
      }
    case SETTINGS.mark:
      return { kind: 'settings', userId, awayAfter: JSON.parse(lines[from + 1]!) }
    case ANSWER.mark:
      return { kind: 'answer', userId, ref: lines[from + 1]!, answer: JSON.parse(lines[from + 2]!) }
    case DISCONNECT.mark:
      return { kind: 'disconnect', userId, disconnect: JSON.parse(lines[from + 1]!) }
    case LEFT.mark:
      return { kind: 'left', userId, deviceId: lines[from + 1]!, at: Number(lines[from + 2]) }
    case FOREIGN.mark:
      return { kind: 'foreign', from: lines[from]!, ref: lines[from + 1]!, text: lines[from + 2]! }
    case FOREIGN_ANSWER.mark:
      return { kind: 'foreign_answer', ref: lines[from]!, rejections: JSON.parse(lines[from + 1]!) }
    default:
      return {
        kind: mark === ERASED.mark ? 'erased' : 'gone',
        userId,
        version: Number(lines[from + 1]),
        at: Number(lines[from + 2]),
      }
  }
}
