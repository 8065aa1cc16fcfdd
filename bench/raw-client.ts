// WebSocket clients at the lowest price: bare TCP sockets that shake hands, send prepared frames and
// count what comes back. The load must cost less than what it measures.

export interface RawClient {
  send(frame: Uint8Array): void
  /** Stops reading: what comes then waits in the kernel, and costs this process nothing. */
  stopReading(): void
  close(): void
}

export interface RawClientEvents {
  onOpen(): void
  onClose(): void
  onBytes(bytes: number): void
}

/** A client text frame. The mask is zero, which leaves the payload readable and costs nothing. */
export function textFrame(text: string): Uint8Array {
  const payload = new TextEncoder().encode(text)
  const long = payload.length > 125
  const header = long
    ? [0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]
    : [0x81, 0x80 | payload.length, 0, 0, 0, 0]
  const frame = new Uint8Array(header.length + payload.length)
  frame.set(header)
  frame.set(payload, header.length)
  return frame
}

export async function openRaw(port: number, path: string, events: RawClientEvents): Promise<RawClient> {
  let isOpen = false
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, bytes) {
        if (!isOpen) {
          isOpen = true
          events.onOpen()
        }
        events.onBytes(bytes.length)
      },
      close: () => events.onClose(),
      error: () => events.onClose(),
    },
  })
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Key: Z3JlZW5kb3QtYmVuY2gtMQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  )
  return {
    send: (frame) => void socket.write(frame),
    stopReading: () => socket.pause(),
    close: () => socket.end(),
  }
}
