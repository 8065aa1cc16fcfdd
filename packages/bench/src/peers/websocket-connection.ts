// A connection over a WebSocket: carries the messages of a dialogue and reports the end. For servers that
// ping their clients, so a heartbeat of the load does nothing.
import { textFrame } from '../wires/frames.ts'
import { BenchSocket } from '../wires/web-socket.ts'
import type { Connection, ConnectionOptions, Target } from '../wires/wire.ts'
import type { Dialogue, Send } from './dialogue.ts'

export function openWebSocketConnection(
  target: Target,
  path: string,
  { events }: ConnectionOptions,
  createDialogue: (send: Send) => Dialogue<Buffer>,
): Connection {
  let isOver = false
  const dialogue = createDialogue((text) => {
    const frame = textFrame(text)
    socket.send(frame)
    return frame.length
  })
  const socket = new BenchSocket(target, path, {
    onOpen: dialogue.begin,
    onMessage: (bytes, from, to) => dialogue.receive(bytes.subarray(from, to)),
    onBytes: events.onBytes,
    onEnd(why) {
      if (isOver) return
      isOver = true
      if (why.startsWith('the server')) events.onError(why)
      events.onClose()
    },
  })
  return {
    change: dialogue.change,
    beat() {},
    mark() {},
    pauseReading: () => socket.pause(),
    close() {
      isOver = true
      socket.end()
    },
  }
}
