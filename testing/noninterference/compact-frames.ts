// Frames of compact sockets, before they are compared: they are decoded, and the bytes are held against the encoding of
// what they say. So the bytes tell nothing that the decoded frame does not tell.
import { decodeServerFrame, type Encoding, type ServerFrame } from '@greendot/protocol'
import { changeFrame, encoded, stateFrame } from '../../packages/server/src/gateway/delivery/delivery.ts'
import type { History } from './moves.ts'

/** The frame as JSON. */
export function comparable(bytes: string): string {
  const frame = decodeServerFrame(bytes)
  const again = encode(frame)
  if (again !== bytes) throw new Error(`a frame says ${again} and is ${bytes}`)
  return JSON.stringify(frame)
}

function encode(frame: ServerFrame): string {
  const compact = (object: object) => encoded(JSON.stringify(object), 'compact')
  if (frame.type === 'presence_change') return changeFrame(frame.changes.map(compact), 'compact')
  if (frame.type === 'presence_state') return stateFrame(frame.states.map(compact), 'compact')
  return JSON.stringify(frame)
}

/** The same history with all sockets in this encoding. */
export const spokenIn = (encoding: Encoding, history: History): History => ({
  ...history,
  steps: history.steps.map((step) => ({
    ...step,
    moves: step.moves.map((move) => (move.does === 'open' ? { ...move, encoding } : move)),
  })),
})
