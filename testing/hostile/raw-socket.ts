// A raw socket, for requests and WebSocket frames that no client library would send. It enforces no rules.
import { createConnection, type Socket } from 'node:net'
import { createLookout } from '../clients/lookout.ts'
import { WAIT_MS } from '../services/within.ts'

export interface RawSocket {
  socket: Socket
  /** Everything received so far, one character a byte. */
  received(): string
  /** Resolves once what was received matches. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with everything received once the other side has closed. */
  closed: Promise<string>
  write(bytes: string | Uint8Array): void
  end(): void
}

export async function openRaw(url: string): Promise<RawSocket> {
  const { hostname, port } = new URL(url)
  const socket = createConnection({ host: hostname, port: Number(port), allowHalfOpen: false })
  let received = ''
  const lookout = createLookout()
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
    lookout.notify()
  })
  // A reset also counts as closed; tests check what was received before it.
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => void socket.on('close', () => resolve(received)))
  await new Promise((resolve) => void socket.once('connect', resolve))

  return {
    socket,
    received: () => received,
    until: (pattern) =>
      lookout.until(
        WAIT_MS,
        () => pattern.exec(received) ?? undefined,
        () => `waited ${WAIT_MS} ms for ${pattern}; received ${JSON.stringify(received)}`,
      ),
    closed,
    write: (bytes) => void socket.write(bytes),
    end: () => void socket.destroy(),
  }
}

/** Sends bytes and returns the first answer, or everything received until the server closed. */
export async function sendRaw(url: string, bytes: string | Uint8Array): Promise<string> {
  const raw = await openRaw(url)
  raw.write(bytes)
  const whole = raw.until(/^HTTP\/1\.1 \d{3} [\s\S]*?\r\n\r\n/).then(() => raw.received())
  const answer = await Promise.race([whole.catch(() => raw.received()), raw.closed])
  raw.end()
  return answer
}

export function upgradeRequest(token: string, query = ''): string {
  return [
    `GET /api/v1/ws?token=${encodeURIComponent(token)}${query} HTTP/1.1`,
    'Host: localhost',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n')
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface WireFrame {
  opcode?: number
  final?: boolean
  /** The three reserved bits, which are only allowed with a negotiated extension. */
  reserved?: number
  masked?: boolean
}

/** A frame as a client sends it, unless told to break the rules. */
export function wireFrame(payload: string | Uint8Array, options: WireFrame = {}): Buffer {
  const { opcode = OPCODE.text, final = true, reserved = 0, masked = true } = options
  const body = Buffer.from(payload as Uint8Array)
  const first = (final ? 0x80 : 0) | (reserved << 4) | opcode
  const maskBit = masked ? 0x80 : 0
  let head: Buffer
  if (body.length < 126) head = Buffer.from([first, maskBit | body.length])
  else if (body.length < 65_536) {
    head = Buffer.from([first, maskBit | 126, body.length >> 8, body.length & 0xff])
  } else {
    head = Buffer.alloc(10)
    head[0] = first
    head[1] = maskBit | 127
    head.writeBigUInt64BE(BigInt(body.length), 2)
  }
  if (!masked) return Buffer.concat([head, body])
  const key = Buffer.from([0x37, 0xfa, 0x21, 0x3d])
  const hidden = Buffer.from(body)
  for (let index = 0; index < hidden.length; index++) hidden[index]! ^= key[index % 4]!
  return Buffer.concat([head, key, hidden])
}

export interface HeardOnWire {
  opcode: number
  payload: Buffer
}

/** The server's WebSocket frames after its answer to the upgrade. */
export function wireFramesOf(received: string): HeardOnWire[] {
  const start = received.indexOf('\r\n\r\n')
  const bytes = Buffer.from(start === -1 ? '' : received.slice(start + 4), 'latin1')
  const frames: HeardOnWire[] = []
  for (let at = 0; at + 2 <= bytes.length; ) {
    const opcode = bytes[at]! & 0x0f
    let length = bytes[at + 1]! & 0x7f
    at += 2
    if (length === 126) {
      length = bytes.readUInt16BE(at)
      at += 2
    } else if (length === 127) {
      length = Number(bytes.readBigUInt64BE(at))
      at += 8
    }
    frames.push({ opcode, payload: bytes.subarray(at, at + length) })
    at += length
  }
  return frames
}

/** The code of the close frame the server sent; null when it sent none. */
export function closeCodeOf(received: string): number | null {
  const close = wireFramesOf(received).find(({ opcode }) => opcode === OPCODE.close)
  return close === undefined || close.payload.length < 2 ? null : close.payload.readUInt16BE(0)
}

/** The JSON of the server's text frames. */
export function textsOf(received: string): { type: string; code?: string; ref?: unknown }[] {
  return wireFramesOf(received)
    .filter(({ opcode }) => opcode === OPCODE.text)
    .map(({ payload }) => JSON.parse(payload.toString('utf8')))
}
