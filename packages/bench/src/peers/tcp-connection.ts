// A connection over plain TCP: carries the bytes of a dialogue and reports the end. For servers that expect
// their clients to send signs of life.
import { RawSocket } from '../wires/raw-socket.ts'
import type { Connection, ConnectionOptions, Target } from '../wires/wire.ts'
import type { Dialogue, Send } from './dialogue.ts'

export interface BeatingDialogue extends Dialogue<Buffer> {
  beat(): void
}

export function openTcpConnection(
  target: Target,
  { events }: ConnectionOptions,
  createDialogue: (send: Send<string | Uint8Array>) => BeatingDialogue,
): Connection {
  let isOver = false
  const dialogue = createDialogue((what) => {
    socket.write(what)
    return what.length
  })
  const socket = new RawSocket(target, {
    onOpen: dialogue.begin,
    onData(bytes) {
      if (isOver) return
      events.onBytes(bytes.length)
      dialogue.receive(bytes)
    },
    onEnd() {
      if (isOver) return
      isOver = true
      events.onClose()
    },
  })
  return {
    change: dialogue.change,
    beat: dialogue.beat,
    mark() {},
    pauseReading: () => socket.pause(),
    close() {
      isOver = true
      socket.end()
    },
  }
}
