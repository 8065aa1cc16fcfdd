// Reads what the kit sends over a WebSocket, in either encoding.
import { type ClientFrame, COMPACT_ACTIVE, COMPACT_IDLE } from '@greendot/protocol'

export function sentFrame(text: string): ClientFrame {
  if (text === COMPACT_ACTIVE) return { type: 'heartbeat', activity: 'active' }
  if (text === COMPACT_IDLE) return { type: 'heartbeat', activity: 'idle' }
  return JSON.parse(text)
}
