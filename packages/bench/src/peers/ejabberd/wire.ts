// The wire to ejabberd: a TCP connection and a talk over it.
import { RawSocket } from '../../wires/raw-socket.ts'
import type { Wire } from '../../wires/wire.ts'
import { HOST } from './configuration.ts'
import { createTalk } from './dialogue.ts'

export const ejabberdWire: Wire = {
  open(target, options) {
    const { events } = options
    let isOver = false
    const talk = createTalk(HOST, target.token(options.user), options, (text) => {
      socket.write(text)
      return text.length
    })
    const socket = new RawSocket(target, {
      onOpen: talk.begin,
      onData(bytes) {
        if (isOver) return
        events.onBytes(bytes.length)
        talk.hear(bytes.toString('latin1'))
      },
      onEnd() {
        if (isOver) return
        isOver = true
        events.onClose()
      },
    })
    return {
      change: talk.change,
      beat: talk.beat,
      mark() {},
      deafen: () => socket.pause(),
      close() {
        isOver = true
        socket.end()
      },
    }
  },
}
