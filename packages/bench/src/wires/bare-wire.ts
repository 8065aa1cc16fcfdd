// Speaks to the bare server: connects and counts frames. Its frames hold no changes, so no connection is exact.
import { BenchSocket } from './web-socket.ts'
import type { Connection, Wire } from './wire.ts'

export const bareWire: Wire = {
  open(target, { events }): Connection {
    const socket = new BenchSocket(target, '/', {
      onOpen: () => events.onReady(),
      onMessage: (_, from, to) => events.onFrame(to - from, 1),
      onBytes: (bytes) => events.onBytes(bytes),
      onEnd: () => events.onClose(),
    })
    return {
      change() {},
      beat() {},
      mark() {},
      pauseReading: () => socket.pause(),
      close: () => socket.end(),
    }
  },
}
