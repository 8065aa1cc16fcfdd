import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { clientFrame, FrameScanner, OPCODE, textFrame } from './frames.ts'
import { countUpdates } from './greendot-wire.ts'

/** A frame as servers send it: without a mask. */
function serverFrame(payload: string): Buffer {
  const bytes = Buffer.from(payload)
  const { length } = bytes
  const head =
    length < 126
      ? Buffer.from([0x81, length])
      : length < 65_536
        ? Buffer.from([0x81, 126, length >> 8, length & 255])
        : Buffer.concat([
            Buffer.from([0x81, 127, 0, 0, 0, 0]),
            Buffer.from(Uint32Array.of(length).buffer).reverse(),
          ])
  return Buffer.concat([head, bytes])
}

function scan(chunks: readonly Buffer[]): string[] {
  const scanner = new FrameScanner()
  const found: string[] = []
  for (const chunk of chunks)
    scanner.push(chunk, (bytes, from, to) => void found.push(bytes.toString('utf8', from, to)))
  return found
}

describe('WebSocket frames of the load', () => {
  test('[C9] whole frames come out, wherever the network cut them', () => {
    const payload = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.integer({ min: 120, max: 130 }).map((size) => 'a'.repeat(size)),
      fc.integer({ min: 65_530, max: 65_540 }).map((size) => 'b'.repeat(size)),
    )
    fc.assert(
      fc.property(
        fc.array(payload, { maxLength: 4 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        (texts, cuts) => {
          const stream = Buffer.concat(texts.map(serverFrame))
          const places = cuts.map((cut) => cut % (stream.length + 1)).sort((a, b) => a - b)
          const edges = [0, ...places, stream.length]
          const chunks = edges.slice(1).map((end, index) => stream.subarray(edges[index], end))
          expect(scan(chunks)).toEqual(texts)
        },
      ),
    )
  })

  test('[C9] a stream that comes byte by byte is read too', () => {
    const stream = Buffer.concat([serverFrame('one'), serverFrame('x'.repeat(200)), serverFrame('')])
    expect(scan(Array.from(stream, (byte) => Buffer.from([byte])))).toEqual(['one', 'x'.repeat(200), ''])
  })

  test('[C9] what the load sends is masked with zeros and carries its length', () => {
    expect([...textFrame('hi')]).toEqual([0x81, 0x82, 0, 0, 0, 0, 104, 105])
    expect([...clientFrame(OPCODE.pong, new Uint8Array(300)).subarray(0, 4)]).toEqual([0x8a, 0xfe, 1, 44])
  })

  test('[C9] updates are counted within one frame only', () => {
    const one = '{"type":"presence_change","changes":[{"version":1},{"version":2}]}'
    const bytes = Buffer.from(`${one}{"version":3}`)
    expect(countUpdates(bytes, 0, one.length)).toBe(2)
    expect(countUpdates(bytes, one.length, bytes.length)).toBe(1)
  })

  test('[C9, C10] updates of a compact frame are counted within it only', () => {
    const one = 'cbob,ow,1,1\ncarol,f,,0'
    const bytes = Buffer.from(`${one}cdave,f,,0\n`)
    expect(countUpdates(bytes, 0, one.length)).toBe(2)
    expect(countUpdates(bytes, one.length, bytes.length - 1)).toBe(1)
  })
})
