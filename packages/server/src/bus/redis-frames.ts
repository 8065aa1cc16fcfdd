// How messages travel through Redis: a payload is lines, a few for each message. The JSON inside is
// already on one line and ids hold no white space, so nothing is quoted a second time.
import type { BusMessage } from './port.ts'

/** What a payload says. */
export type BusFrame =
  | { kind: 'messages'; messages: BusMessage[] }
  /** Messages to this gateway could not be sent. */
  | { kind: 'gap' }

const CHANGE = 'c'
const SELF = 's'

export const GAP_PAYLOAD = 'gap'

export function encodeMessages(messages: readonly BusMessage[]): string {
  let payload = ''
  for (const message of messages) {
    if (payload !== '') payload += '\n'
    if (message.kind === 'change') {
      payload += `${CHANGE}\n${message.userId}\n${message.version}\n${message.at}\n${message.json}`
    } else payload += `${SELF}\n${message.userId}\n${message.revision}\n${message.json}`
  }
  return payload
}

/** What it cannot read, such as a kind from a later version, counts as missed. */
export function decodePayload(payload: string): BusFrame {
  if (payload === GAP_PAYLOAD) return { kind: 'gap' }
  const lines = payload.split('\n')
  const messages: BusMessage[] = []
  let line = 0
  while (line < lines.length) {
    const kind = lines[line]
    const userId = lines[line + 1]!
    const json = lines[line + (kind === CHANGE ? 4 : 3)]
    if (json === undefined) return { kind: 'gap' }
    if (kind === CHANGE) {
      const [version, at] = [Number(lines[line + 2]), Number(lines[line + 3])]
      messages.push({ kind: 'change', userId, version, at, json })
      line += 5
    } else if (kind === SELF) {
      messages.push({ kind: 'self', userId, revision: Number(lines[line + 2]), json })
      line += 4
    } else return { kind: 'gap' }
  }
  return { kind: 'messages', messages }
}
