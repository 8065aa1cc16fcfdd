// A bare TCP connection with its own source address. All sockets share one set of handlers, so that a
// connection costs an object and no closures: the load must be cheaper than what it measures.
import type { Socket } from 'bun'

/** The receiver of a socket's events. */
export interface SocketListener {
  onOpen(): void
  onData(bytes: Buffer): void
  /** Ended, failed, or was never established. Not called after `end`. */
  onEnd(): void
}

export interface Address {
  host: string
  port: number
  nextAddress(): string
}

export class RawSocket {
  #socket: Socket<RawSocket> | null = null
  #unsent: Uint8Array | null = null
  #isEnded = false
  readonly #listener: SocketListener

  static readonly #handlers = {
    open: (socket: Socket<RawSocket>) => socket.data.#opened(socket),
    data: (socket: Socket<RawSocket>, bytes: Buffer) => {
      if (!socket.data.#isEnded) socket.data.#listener.onData(bytes)
    },
    drain: (socket: Socket<RawSocket>) => socket.data.#drained(),
    close: (socket: Socket<RawSocket>) => socket.data.#ended(),
    error: (socket: Socket<RawSocket>) => socket.data.#ended(),
    connectError: (socket: Socket<RawSocket>) => socket.data.#ended(),
  }

  constructor(address: Address, listener: SocketListener) {
    this.#listener = listener
    // The runtime knows localAddress, its type definitions do not.
    const where = { hostname: address.host, port: address.port, localAddress: address.nextAddress() }
    Bun.connect<RawSocket>({ ...where, data: this, socket: RawSocket.#handlers }).catch(() => this.#ended())
  }

  write(bytes: Uint8Array | string): void {
    if (this.#isEnded) return
    const wanted = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    if (this.#unsent !== null) this.#unsent = Buffer.concat([this.#unsent, wanted])
    else if (this.#socket === null) this.#unsent = wanted
    else this.#send(wanted)
  }

  /** Stops reading: what comes then waits in the kernel, and costs this process nothing. */
  pause(): void {
    this.#socket?.pause()
  }

  end(): void {
    this.#isEnded = true
    this.#socket?.end()
  }

  #send(bytes: Uint8Array): void {
    const sent = Math.max(0, this.#socket!.write(bytes))
    this.#unsent = sent < bytes.length ? bytes.subarray(sent) : null
  }

  #opened(socket: Socket<RawSocket>): void {
    this.#socket = socket
    if (this.#isEnded) {
      socket.end()
      return
    }
    this.#listener.onOpen()
    this.#drained()
  }

  #drained(): void {
    if (this.#unsent !== null) this.#send(this.#unsent)
  }

  #ended(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#listener.onEnd()
  }
}
