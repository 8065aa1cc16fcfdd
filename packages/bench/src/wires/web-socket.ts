// The client side of a WebSocket over a raw socket: the handshake, whole messages as ranges of bytes,
// and answers to pings. It checks no keys and no masks: it connects to servers of this benchmark only.
import { clientFrame, FrameScanner, OPCODE } from './frames.ts'
import { type Address, RawSocket, type SocketListener } from './raw-socket.ts'

export interface WebSocketListener {
  onOpen(): void
  /** The range is only good until it returns. */
  onMessage(bytes: Buffer, from: number, to: number): void
  /** Every chunk, before its messages. */
  onBytes(bytes: number): void
  /** At most once, with the reason where the server gave one. Not after `end`. */
  onEnd(why: string): void
}

const HEAD_END = '\r\n\r\n'
const HEAD_BYTES_MAX = 16_384
/** Any 16 bytes. */
const KEY = 'Z3JlZW5kb3QtYmVuY2gtMQ=='

const protocolLine = (subprotocol: string): string => `Sec-WebSocket-Protocol: ${subprotocol}\r\n`
const isAgreed = (head: string, subprotocol: string): boolean =>
  `${head}\r\n`.toLowerCase().includes(`\r\n${protocolLine(subprotocol)}`.toLowerCase())

export class BenchSocket implements SocketListener {
  readonly #raw: RawSocket
  readonly #listener: WebSocketListener
  readonly #request: string
  readonly #subprotocol: string | null
  readonly #scanner = new FrameScanner()
  /** The response to the handshake so far; null when it is complete. */
  #head: Buffer | null = Buffer.alloc(0)
  #why = 'the connection ended'

  constructor(
    address: Address,
    path: string,
    listener: WebSocketListener,
    subprotocol: string | null = null,
  ) {
    this.#listener = listener
    this.#subprotocol = subprotocol
    this.#request =
      `GET ${path} HTTP/1.1\r\nHost: ${address.host}:${address.port}\r\nUpgrade: websocket\r\n` +
      `Connection: Upgrade\r\nSec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Version: 13\r\n` +
      `${subprotocol === null ? '' : protocolLine(subprotocol)}\r\n`
    this.#raw = new RawSocket(address, this)
  }

  /** Takes frames, made once by `textFrame`. */
  send(frame: Uint8Array): void {
    this.#raw.write(frame)
  }

  pause(): void {
    this.#raw.pause()
  }

  end(): void {
    this.#raw.end()
  }

  onOpen(): void {
    this.#raw.write(this.#request)
  }

  onData(bytes: Buffer): void {
    this.#listener.onBytes(bytes.length)
    if (this.#head === null) this.#scanner.push(bytes, this.#onFrame)
    else this.#readHandshake(Buffer.concat([this.#head, bytes]))
  }

  onEnd(): void {
    this.#listener.onEnd(this.#why)
  }

  #readHandshake(head: Buffer): void {
    const end = head.indexOf(HEAD_END)
    if (end < 0 && head.length < HEAD_BYTES_MAX) {
      this.#head = head
      return
    }
    const status = head.toString('latin1', 0, Math.max(0, head.indexOf('\r\n')))
    if (!/^HTTP\/1\.1 101\b/.test(status)) {
      this.#raw.end()
      this.#listener.onEnd(`the server answered the handshake with "${status}"`)
      return
    }
    if (this.#subprotocol !== null && !isAgreed(head.toString('latin1', 0, end), this.#subprotocol)) {
      this.#raw.end()
      this.#listener.onEnd(`the server does not speak ${this.#subprotocol}`)
      return
    }
    this.#head = null
    this.#listener.onOpen()
    const rest = head.subarray(end + HEAD_END.length)
    if (rest.length > 0) this.#scanner.push(rest, this.#onFrame)
  }

  readonly #onFrame = (bytes: Buffer, from: number, to: number, opcode: number): void => {
    if (opcode === OPCODE.text || opcode === OPCODE.binary) this.#listener.onMessage(bytes, from, to)
    else if (opcode === OPCODE.ping) this.#raw.write(clientFrame(OPCODE.pong, bytes.subarray(from, to)))
    else if (opcode === OPCODE.close && to - from >= 2) {
      const reason = bytes.toString('utf8', from + 2, to)
      this.#why = `the server closed with ${bytes.readUInt16BE(from)} ${reason}`.trimEnd()
    }
  }
}
