// WebSocket frames at the lowest price: text frames to a server, and a scanner that finds whole frames
// in what comes back, however the network cut it. No copy is made of a frame that came in one piece.

/** A client text frame. The mask is zero, which leaves the payload readable and costs nothing. */
export function textFrame(text: string): Uint8Array {
  return clientFrame(OPCODE.text, new TextEncoder().encode(text))
}

export const OPCODE = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const LENGTH_16 = 126
const LENGTH_64 = 127
const MASKED = 0x80

export function clientFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload
  const sizeBytes = length < LENGTH_16 ? 0 : length < 65_536 ? 2 : 8
  const frame = new Uint8Array(2 + sizeBytes + 4 + length)
  const view = new DataView(frame.buffer)
  frame[0] = 0x80 | opcode
  frame[1] = MASKED | (sizeBytes === 0 ? length : sizeBytes === 2 ? LENGTH_16 : LENGTH_64)
  if (sizeBytes === 2) view.setUint16(2, length)
  else if (sizeBytes === 8) view.setBigUint64(2, BigInt(length))
  frame.set(payload, 2 + sizeBytes + 4)
  return frame
}

/** Gets each whole frame as a range of a buffer that is only good until it returns. */
export type OnFrame = (bytes: Buffer, from: number, to: number, opcode: number) => void

/** Reads unmasked, unfragmented frames, which is what servers send here. */
export class FrameScanner {
  #rest: Buffer | null = null

  push(chunk: Buffer, onFrame: OnFrame): void {
    const bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= 2) {
      const opcode = bytes[at]! & 15
      let length = bytes[at + 1]! & 127
      let headerBytes = 2
      if (length === LENGTH_16) {
        if (bytes.length - at < 4) break
        length = bytes.readUInt16BE(at + 2)
        headerBytes = 4
      } else if (length === LENGTH_64) {
        if (bytes.length - at < 10) break
        length = Number(bytes.readBigUInt64BE(at + 2))
        headerBytes = 10
      }
      const end = at + headerBytes + length
      if (end > bytes.length) break
      onFrame(bytes, at + headerBytes, end, opcode)
      at = end
    }
    // A copy, because the chunk belongs to the runtime.
    this.#rest = at === bytes.length ? null : Buffer.from(bytes.subarray(at))
  }
}
