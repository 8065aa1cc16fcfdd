// A WebSocket client on a bare TCP socket, for what a real one never does: stop reading, or fall
// silent without closing. Reads only unfragmented text frames, which is all that the server sends.
import { connect as connectTcp } from 'node:net'
import type { ServerFrame } from '@greendot/protocol'
import { webSocketUrl } from '../clients/client.ts'
import { createLookout } from '../clients/lookout.ts'
import { WAIT_MS } from '../services/within.ts'

export interface RawSocket {
  frames: ServerFrame[]
  /** Text bytes received, whether already looked at or not. */
  bytes(): number
  send(frame: object): void
  /** Looks now and after every frame, until there is something to find. */
  until<T>(find: (frames: readonly ServerFrame[]) => T | undefined, withinMs?: number): Promise<T>
  stopReading(): void
  readOn(): void
  /** Ends the connection with a reset, as a cable would not. */
  destroy(): void
}

/** Any 16 bytes. */
const HANDSHAKE_KEY = Buffer.from('greendot-raw-key').toString('base64')

/** Resolves once the server said welcome. */
export async function openRawSocket(url: string, userId: string): Promise<RawSocket> {
  const { hostname, port, pathname, search } = new URL(webSocketUrl(url, userId))
  const socket = connectTcp(Number(port), hostname)
  const frames: ServerFrame[] = []
  const lookout = createLookout()
  const read = createReader((text) => {
    frames.push(JSON.parse(text))
    lookout.notify()
  })
  let received = 0
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length
    read(chunk)
  })
  socket.on('error', () => {})
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\n` +
      `Connection: Upgrade\r\nSec-WebSocket-Key: ${HANDSHAKE_KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  )
  const raw: RawSocket = {
    frames,
    bytes: () => received,
    send: (frame) => void socket.write(textFrame(JSON.stringify(frame))),
    until: (find, withinMs = WAIT_MS) =>
      lookout.until(
        withinMs,
        () => find(frames),
        () => `${userId} waited ${withinMs} ms; heard ${frames.length} frames`,
      ),
    stopReading: () => void socket.pause(),
    readOn: () => void socket.resume(),
    destroy: () => void socket.resetAndDestroy(),
  }
  await raw.until((all) => all.find(({ type }) => type === 'welcome'))
  return raw
}

/** The mask is zero, which is a mask like any other and leaves the payload as it is. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  const header =
    length < 126 ? [0x81, 0x80 | length] : [0x81, 0x80 | 126, (length >> 8) & 0xff, length & 0xff]
  if (length > 0xffff) throw new Error('the frame is too long for this client')
  return Buffer.concat([Buffer.from([...header, 0, 0, 0, 0]), payload])
}

/** Takes bytes as they come; first the answer to the handshake, then frames. */
function createReader(onText: (text: string) => void): (chunk: Buffer) => void {
  let isOpen = false
  let chunks: Buffer[] = []
  let size = 0
  let wanted = 2

  function takeOne(bytes: Buffer): number {
    if (!isOpen) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end === -1) return 0
      const status = bytes.subarray(0, bytes.indexOf('\r\n')).toString()
      if (!status.includes(' 101 ')) throw new Error(`no upgrade: ${status}`)
      isOpen = true
      return end + 4
    }
    const short = bytes[1]! & 0x7f
    const headerBytes = short === 127 ? 10 : short === 126 ? 4 : 2
    wanted = headerBytes
    if (bytes.length < headerBytes) return 0
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
    wanted = headerBytes + length
    if (bytes.length < wanted) return 0
    if ((bytes[0]! & 0x0f) === 1) onText(bytes.subarray(headerBytes, wanted).toString())
    return wanted
  }

  return (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    // A long frame comes in many chunks; they are joined when it is complete, not for each.
    if (size < wanted) return
    let bytes = Buffer.concat(chunks)
    while (bytes.length >= 2) {
      const taken = takeOne(bytes)
      if (taken === 0) break
      wanted = 2
      bytes = bytes.subarray(taken)
    }
    chunks = [bytes]
    size = bytes.length
  }
}
