// Many WebSocket clients on bare TCP sockets that write beats, as fast as the server takes them or at a
// pace it can keep, one or several in a segment.
import { HEARTBEAT_ACTIVE } from '@greendot/protocol'
import { systemClock } from '../../../../server/src/platform/clock.ts'
import { textFrame } from '../../wires/frames.ts'

export interface BeatLoad {
  /** All clients send heartbeats for so long; resolves when the last segment is with the kernel. */
  beat(ms: number): Promise<void>
}

export interface BeatLoadOptions {
  clients: number
  /** Where the n-th client connects to. */
  path(client: number): string
  beatsPerSegment: number
  /** Every client writes a segment once in so long; 0 for as fast as they are taken. */
  segmentEveryMs: number
}

const BEAT = textFrame(HEARTBEAT_ACTIVE)

export async function openBeatLoad(port: number, options: BeatLoadOptions): Promise<BeatLoad> {
  const { clients, path, beatsPerSegment, segmentEveryMs } = options
  const segment = new Uint8Array(BEAT.length * beatsPerSegment)
  for (let beat = 0; beat < beatsPerSegment; beat++) segment.set(BEAT, beat * BEAT.length)
  const connections = await Promise.all(
    Array.from({ length: clients }, (_, client) => openConnection(port, path(client), segment)),
  )
  return {
    async beat(ms) {
      const startedAt = performance.now()
      for (let turn = 1; performance.now() - startedAt < ms; turn++) {
        for (const connection of connections) connection.writeSegment()
        // Drain events of full sockets come between the turns.
        await systemClock.nextTurn()
        const aheadMs = startedAt + turn * segmentEveryMs - performance.now()
        if (segmentEveryMs > 0 && aheadMs > 0) await Bun.sleep(aheadMs)
      }
      await Promise.all(connections.map((connection) => connection.finished()))
    },
  }
}

async function openConnection(port: number, path: string, segment: Uint8Array) {
  const open = Promise.withResolvers<void>()
  let unsent = 0
  let onFinished: (() => void) | null = null

  /** What was begun is finished before anything else, or the next segment would start inside a frame. */
  function write(): void {
    if (unsent === 0) return
    const sent = socket.write(segment, segment.length - unsent, unsent)
    if (sent < 0) throw new Error('the server closed the connection')
    unsent -= sent
    if (unsent === 0) onFinished?.()
  }

  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: () => open.resolve(),
      drain: write,
      close: () => open.reject(new Error('the server closed the connection')),
      error: (_, error) => open.reject(error),
    },
  })
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Key: Z3JlZW5kb3QtYmVuY2gtMQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  )
  await open.promise
  return {
    /** Nothing while the last one is still on its way. */
    writeSegment(): void {
      if (unsent > 0) return
      unsent = segment.length
      write()
    },
    finished(): Promise<void> {
      if (unsent === 0) return Promise.resolve()
      return new Promise((resolve) => {
        onFinished = resolve
      })
    },
  }
}
