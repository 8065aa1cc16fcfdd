// The format of messages in Redis: a payload is lines, a few for each message. The JSON is on one line
// already and ids contain no white space, so nothing needs quoting.
import type { BusMessage, ChoicesMessage } from './port.ts'

export type BusFrame =
  | { kind: 'messages'; messages: BusMessage[] }
  /** Messages to this gateway could not be sent. */
  | { kind: 'gap' }

export const GAP_PAYLOAD = 'gap'

/** The first line of a message, and how many lines follow it. */
const CHANGE = { mark: 'c', lines: 5 } as const
const SELF = { mark: 's', lines: 3 } as const
const CHOICES = { mark: 'o', lines: 2 } as const
const ERASED = { mark: 'e', lines: 3 } as const
const LINES = new Map<string, number>([CHANGE, SELF, CHOICES, ERASED].map(({ mark, lines }) => [mark, lines]))

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
      const { userId, version, at, json, discretion } = message
      // Most users have no privacy settings.
      const guarded = discretion === null ? '' : JSON.stringify(discretion)
      return `${CHANGE.mark}\n${userId}\n${version}\n${at}\n${json}\n${guarded}`
    }
    case 'self':
      return `${SELF.mark}\n${message.userId}\n${message.revision}\n${message.json}`
    case 'choices': {
      const { userId, awayAfter, discretion } = message
      return `${CHOICES.mark}\n${userId}\n${JSON.stringify({ awayAfter, discretion })}`
    }
    case 'erased':
      return `${ERASED.mark}\n${message.userId}\n${message.version}\n${message.at}`
  }
}

/** What cannot be read, such as a kind of message of a later version, counts as a gap. */
export function decodePayload(payload: string): BusFrame {
  if (payload === GAP_PAYLOAD) return { kind: 'gap' }
  const lines = payload.split('\n')
  const messages: BusMessage[] = []
  for (let line = 0; line < lines.length; ) {
    const mark = lines[line]!
    const count = LINES.get(mark)
    if (count === undefined || line + count >= lines.length) return { kind: 'gap' }
    messages.push(decode(mark, lines, line + 1))
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
      const discretion = guarded === '' ? null : JSON.parse(guarded)
      return { kind: 'change', userId, version, at, json: lines[from + 3]!, discretion }
    }
    case SELF.mark:
      return { kind: 'self', userId, revision: Number(lines[from + 1]), json: lines[from + 2]! }
    case CHOICES.mark: {
      const said = JSON.parse(lines[from + 1]!) as Pick<ChoicesMessage, 'awayAfter' | 'discretion'>
      return { kind: 'choices', userId, ...said }
    }
    default:
      return { kind: 'erased', userId, version: Number(lines[from + 1]), at: Number(lines[from + 2]) }
  }
}
