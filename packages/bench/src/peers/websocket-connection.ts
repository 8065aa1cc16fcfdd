// A line over a WebSocket: carries what a talk says and hears, and tells the crowd how it ended. For
// servers that ask for signs of life themselves, so that a beat has nothing to do.
import { textFrame } from '../wires/frames.ts'
import { BenchSocket } from '../wires/web-socket.ts'
import type { Line, LineOptions, Target } from '../wires/wire.ts'
import type { Say, Talk } from './dialogue.ts'

export function openWebSocketLine(
  target: Target,
  path: string,
  { events }: LineOptions,
  createTalk: (say: Say) => Talk<Buffer>,
): Line {
  let isOver = false
  const talk = createTalk((text) => {
    const frame = textFrame(text)
    socket.send(frame)
    return frame.length
  })
  const socket = new BenchSocket(target, path, {
    onOpen: talk.begin,
    onMessage: (bytes, from, to) => talk.hear(bytes.subarray(from, to)),
    onBytes: events.onBytes,
    onEnd(why) {
      if (isOver) return
      isOver = true
      if (why.startsWith('the server')) events.onError(why)
      events.onClose()
    },
  })
  return {
    change: talk.change,
    beat() {},
    mark() {},
    deafen: () => socket.pause(),
    close() {
      isOver = true
      socket.end()
    },
  }
}
