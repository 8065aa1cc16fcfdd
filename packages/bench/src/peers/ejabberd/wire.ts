// The wire to ejabberd: a TCP connection and a dialogue over it.
import { RawSocket } from '../../wires/raw-socket.ts'
import type { Wire } from '../../wires/wire.ts'
import { HOST } from './configuration.ts'
import { createDialogue } from './dialogue.ts'

export const ejabberdWire: Wire = {
  open(target, options) {
    const { events } = options
    let isOver = false
    const dialogue = createDialogue(HOST, target.token(options.user), options, (text) => {
      socket.write(text)
      return text.length
    })
    const socket = new RawSocket(target, {
      onOpen: dialogue.begin,
      onData(bytes) {
        if (isOver) return
        events.onBytes(bytes.length)
        dialogue.receive(bytes.toString('latin1'))
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
  },
}
