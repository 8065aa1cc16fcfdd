// The frames of each socket, handled one after the other, so that answers come in the order of the questions.
// Answers go only to a socket that takes them: while it has too many unsent bytes its frames wait, and while
// too many bytes wait nothing is read from it. A client that never reads costs a fixed amount of memory.
import type { Socket } from './session-table.ts'

/** With more unsent bytes than this, a socket gets no further answer until it has read some. */
export const UNSENT_BYTES_MAX = 256 * 1024
/** With more bytes of frames waiting than this, a socket is not read from. What was read already still comes. */
export const WAITING_BYTES_MAX = 256 * 1024
const WAITING_FRAMES_MAX = 200

export interface Lanes {
  /** Runs at once when no frame of the socket waits. False when too many do; then it never runs. */
  add(socket: Socket, bytes: number, run: () => Promise<void>): boolean
  /** The socket sent some of its bytes. */
  drained(socket: Socket): void
  /** The socket is closed: what waits never runs. */
  drop(socket: Socket): void
  /** Sockets with frames that wait. */
  count(): number
}

interface Lane {
  waiting: { bytes: number; run: () => Promise<void> }[]
  waitingBytes: number
  isRunning: boolean
}

export function createLanes(onError: (error: unknown) => void): Lanes {
  /** Idle sockets have no entry. */
  const lanes = new Map<Socket, Lane>()

  const isFull = (socket: Socket) => socket.getBufferedAmount() > UNSENT_BYTES_MAX

  async function run(socket: Socket, lane: Lane): Promise<void> {
    lane.isRunning = true
    while (lane.waiting.length > 0 && !isFull(socket)) {
      const frame = lane.waiting[0]!
      await frame.run().catch(onError)
      // It counts until it is answered. The lane is empty when it was dropped meanwhile.
      if (lane.waiting.shift() === undefined) return
      lane.waitingBytes -= frame.bytes
      if (socket.isPaused && lane.waitingBytes <= WAITING_BYTES_MAX / 2) socket.resume()
    }
    lane.isRunning = false
    if (lane.waiting.length === 0) lanes.delete(socket)
  }

  return {
    add(socket, bytes, frame) {
      const lane = lanes.get(socket) ?? { waiting: [], waitingBytes: 0, isRunning: false }
      if (lane.waiting.length >= WAITING_FRAMES_MAX) return false
      lanes.set(socket, lane)
      lane.waiting.push({ bytes, run: frame })
      lane.waitingBytes += bytes
      if (!lane.isRunning) void run(socket, lane)
      if (lane.waitingBytes > WAITING_BYTES_MAX && !socket.isPaused) socket.pause()
      return true
    },
    drained(socket) {
      const lane = lanes.get(socket)
      if (lane !== undefined && !lane.isRunning) void run(socket, lane)
    },
    drop(socket) {
      const lane = lanes.get(socket)
      if (lane === undefined) return
      lane.waiting.length = 0
      lanes.delete(socket)
    },
    count: () => lanes.size,
  }
}
