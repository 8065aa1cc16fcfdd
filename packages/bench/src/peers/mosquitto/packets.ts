// The packets of MQTT 3.1.1 that presence needs, as bytes: what a client sends is made here, and what the broker
// sends is cut into whole packets, however the network cut it. Nothing is sent or received with a QoS above 0, so
// a PUBLISH has no number and no answer.

/** Kinds of packets: the high four bits of their first byte. */
export const KIND = {
  connect: 1,
  connectAnswer: 2,
  publish: 3,
  subscribe: 8,
  subscribeAnswer: 9,
  ping: 12,
  pong: 13,
} as const

/** The flag of a PUBLISH that asks the broker to keep it, or that says it was kept. */
const RETAIN = 1
/** The flags of a SUBSCRIBE, which the protocol fixes. */
const SUBSCRIBE_FLAGS = 2
const PROTOCOL_LEVEL = 4
const CONNECT_FLAGS = { cleanSession: 0x02, will: 0x04, willRetain: 0x20, password: 0x40, username: 0x80 }
const ANY_CONNECT_FLAG = Object.values(CONNECT_FLAGS).reduce((all, flag) => all | flag)
/** A length is in groups of seven bits, the lowest first. At most four of them. */
const LENGTH_BYTES_MAX = 4
const MORE = 0x80
/** Far above any packet of the load: more means that the stream was misread. */
const PACKET_BYTES_MAX = 1 << 20

export interface ConnectOptions {
  clientId: string
  username: string
  password: string
  keepAliveSeconds: number
  /** Published and retained by the broker when the connection ends without a goodbye. */
  will: { topic: string; payload: string }
}

/** A clean session with a password and a retained will. */
export function connectPacket({
  clientId,
  username,
  password,
  keepAliveSeconds,
  will,
}: ConnectOptions): Buffer {
  const head = [text('MQTT'), Buffer.from([PROTOCOL_LEVEL, ANY_CONNECT_FLAG]), number16(keepAliveSeconds)]
  const fields = [clientId, will.topic, will.payload, username, password].map(text)
  return packet(KIND.connect, 0, [...head, ...fields])
}

/** Asks for all topics in one packet. `id` must not be zero. */
export function subscribePacket(id: number, topics: readonly string[]): Buffer {
  const qos = Buffer.from([0])
  return packet(KIND.subscribe, SUBSCRIBE_FLAGS, [
    number16(id),
    ...topics.flatMap((topic) => [text(topic), qos]),
  ])
}

export function retainedPacket(topic: string, payload: string): Buffer {
  return packet(KIND.publish, RETAIN, [text(topic), Buffer.from(payload)])
}

export const PING: Buffer = packet(KIND.ping, 0, [])

function packet(kind: number, flags: number, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([(kind << 4) | flags, ...lengthBytes(body.length)]), body])
}

function lengthBytes(length: number): number[] {
  return length < MORE ? [length] : [(length % MORE) | MORE, ...lengthBytes(Math.floor(length / MORE))]
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([number16(bytes.length), bytes])
}

const number16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])

/** Gets each whole packet: its kind and flags, and its body as a range that is only good until it returns. */
export type OnPacket = (kind: number, flags: number, bytes: Buffer, from: number, to: number) => void

export class PacketReader {
  #rest: Buffer | null = null

  push(chunk: Buffer, onPacket: OnPacket): void {
    const bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (at < bytes.length) {
      const from = bodyStart(bytes, at)
      if (from === -1) break
      const to = from + bodyLength(bytes, at + 1, from)
      if (to - at > PACKET_BYTES_MAX) throw new Error(`a packet of ${to - at} bytes`)
      if (to > bytes.length) break
      onPacket(bytes[at]! >> 4, bytes[at]! & 15, bytes, from, to)
      at = to
    }
    // A copy, because the chunk belongs to the runtime.
    this.#rest = at === bytes.length ? null : Buffer.from(bytes.subarray(at))
  }
}

/** Where the body of the packet that starts here begins, or -1 if its length has not come. */
function bodyStart(bytes: Buffer, start: number): number {
  for (let at = start + 1; at <= start + LENGTH_BYTES_MAX; at++) {
    if (at >= bytes.length) return -1
    if (bytes[at]! < MORE) return at + 1
  }
  throw new Error('a length without an end')
}

function bodyLength(bytes: Buffer, from: number, to: number): number {
  let length = 0
  for (let at = to - 1; at >= from; at--) length = length * MORE + (bytes[at]! & (MORE - 1))
  return length
}

export interface Publication {
  topic: string
  payload: string
}

/** The body of a PUBLISH without a number. */
export function readPublication(bytes: Buffer, from: number, to: number): Publication {
  const topicFrom = from + 2
  const topicTo = topicFrom + bytes.readUInt16BE(from)
  if (topicTo > to) throw new Error('a topic longer than its packet')
  return { topic: bytes.toString('utf8', topicFrom, topicTo), payload: bytes.toString('utf8', topicTo, to) }
}

/** The broker kept it for subscribers that come later: a state, not a change. */
export const isRetained = (flags: number): boolean => (flags & RETAIN) !== 0
