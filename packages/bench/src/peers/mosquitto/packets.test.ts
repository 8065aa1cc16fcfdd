import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  connectPacket,
  isRetained,
  KIND,
  PacketReader,
  PING,
  readPublication,
  retainedPacket,
  subscribePacket,
} from './packets.ts'

function read(chunks: readonly Buffer[]): string[] {
  const reader = new PacketReader()
  const found: string[] = []
  for (const chunk of chunks)
    reader.push(chunk, (kind, flags, bytes, from, to) => {
      found.push(`${kind} ${flags} ${bytes.toString('latin1', from, to)}`)
    })
  return found
}

describe('[X7] what the load sends to Mosquitto', () => {
  test('[X7] a CONNECT has the will, the name and the password', () => {
    const will = { topic: 't/a', payload: 'off' }
    const options = { clientId: 'a', username: 'b', password: 'c.d', keepAliveSeconds: 300, will }
    const packet = connectPacket(options)
    const head = '\0\x04MQTT\x04\xe6\x01\x2c'
    expect(packet.toString('latin1')).toBe(
      `\x10${String.fromCharCode(packet.length - 2)}${head}\0\x01a\0\x03t/a\0\x03off\0\x01b\0\x03c.d`,
    )
  })

  test('[X7] a SUBSCRIBE has all topics, each with QoS 0', () => {
    expect(subscribePacket(1, ['t/a', 't/b']).toString('latin1')).toBe('\x82\x0e\0\x01\0\x03t/a\0\0\x03t/b\0')
  })

  test('[X7] a PUBLISH is retained and has no number', () => {
    expect(retainedPacket('t/a', 'on').toString('latin1')).toBe('\x31\x07\0\x03t/aon')
  })

  test('[X7] a PING has no body', () => {
    expect([...PING]).toEqual([0xc0, 0])
  })

  test('[X7] a length over 127 takes more bytes, the lowest first', () => {
    const sizes = [127, 128, 16_383, 16_384, 200_000]
    const heads = sizes.map((size) => [...retainedPacket('t', 'x'.repeat(size - 3)).subarray(1, 4)])
    expect(heads).toEqual([
      [0x7f, 0, 1],
      [0x80, 0x01, 0],
      [0xff, 0x7f, 0],
      [0x80, 0x80, 0x01],
      [0xc0, 0x9a, 0x0c],
    ])
  })
})

describe('[X7] what Mosquitto sends', () => {
  const PACKETS = [
    Buffer.from([KIND.connectAnswer << 4, 2, 0, 0]),
    Buffer.from([KIND.pong << 4, 0]),
    retainedPacket('presence/user-7', 'online 4'),
    retainedPacket('presence/user-8', 'x'.repeat(125)),
    retainedPacket('presence/user-9', 'y'.repeat(20_000)),
    Buffer.from([KIND.pong << 4, 0]),
  ]
  const WHOLE = read(PACKETS)
  const stream = Buffer.concat(PACKETS)

  test('[X7] is cut into the same packets however it is split into chunks', () => {
    expect(WHOLE.length).toBe(PACKETS.length)
    expect(WHOLE[2]).toBe('3 1 \0\x0fpresence/user-7online 4')
    // Most cuts fall into the small packets at either end.
    const place = fc.oneof(
      fc.nat({ max: 200 }),
      fc.nat({ max: 200 }).map((back) => stream.length - back),
      fc.nat({ max: stream.length }),
    )
    fc.assert(
      fc.property(fc.array(place, { maxLength: 12 }), (cuts) => {
        const ends = [...new Set([0, ...cuts, stream.length])].sort((a, b) => a - b)
        const chunks = ends.slice(1).map((end, index) => stream.subarray(ends[index], end))
        expect(read(chunks)).toEqual(WHOLE)
      }),
    )
    const small = stream.subarray(0, 170)
    expect(read(Array.from(small, (byte) => Buffer.from([byte])))).toEqual(WHOLE.slice(0, 3))
  })

  test('[X7] keeps nothing of a chunk that the runtime uses again', () => {
    const reader = new PacketReader()
    const found: string[] = []
    const chunk = Buffer.from(PACKETS[2]!)
    const push = (bytes: Buffer) =>
      reader.push(bytes, (_, __, all, from, to) => found.push(readPublication(all, from, to).payload))
    push(chunk.subarray(0, 10))
    const rest = Buffer.from(chunk.subarray(10))
    chunk.fill(0)
    push(rest)
    expect(found).toEqual(['online 4'])
  })

  test('[X7] a packet without an end is an error, and is not kept', () => {
    expect(() => read([Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff])])).toThrow('a length without an end')
    expect(() => read([Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f])])).toThrow('a packet of 268435460 bytes')
    expect(() => readPublication(Buffer.from('\0\x09abc'), 0, 5)).toThrow('a topic longer than its packet')
  })

  test('[X7] a publication has its topic and its payload', () => {
    const packet = retainedPacket('presence/user-7', 'online 4')
    expect(readPublication(packet, 2, packet.length)).toEqual({
      topic: 'presence/user-7',
      payload: 'online 4',
    })
    expect([isRetained(1), isRetained(0)]).toEqual([true, false])
  })
})
