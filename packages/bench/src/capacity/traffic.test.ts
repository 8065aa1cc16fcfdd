// Bytes of a connection, computed by hand from round numbers.
import { describe, expect, test } from 'bun:test'
import type { Encoding } from '@greendot/protocol'
import { DEFAULT_WORKLOAD } from '../../testing/default-workload.ts'
import type { ConstantName } from './constant-names.ts'
import { type Constant, shippedConstants } from './constants.ts'
import { createSheet } from './sheet.ts'
import { trafficOf } from './traffic.ts'

const ROUND: Partial<Record<ConstantName, number>> = {
  packet_bytes: 60,
  tls_bytes: 20,
  segment_bytes: 1000,
  handshake_bytes: 5000,
  welcome_bytes: 500,
  beat_bytes: 40,
  state_bytes: 100,
  frame_bytes: 30,
  change_bytes: 90,
  compact_beat_bytes: 5,
  compact_state_bytes: 30,
  compact_frame_bytes: 2,
  compact_change_bytes: 25,
  chat_texts: 10,
  chat_text_bytes: 300,
  chat_receipt_bytes: 100,
  chat_pictures: 0.5,
  chat_picture_bytes: 10_000,
  chat_voice_notes: 2,
  chat_voice_note_bytes: 4_000,
  chat_videos: 0.1,
  chat_video_bytes: 100_000,
}
const sheet = createSheet(
  new Map(
    Array.from(shippedConstants(), ([name, constant]): [ConstantName, Constant] => {
      return [name, { ...constant, value: ROUND[name] ?? constant.value }]
    }),
  ),
)

// All users are online: a connection receives a change an hour of each contact, one change of its own, and connects once. A
// short flush, because changes that share a frame are not easy to count by hand.
const WORKLOAD = {
  ...DEFAULT_WORKLOAD,
  online: 1,
  contacts: 20,
  changes: 1,
  connects: 1,
  heartbeatMs: 60_000,
  flushMs: 1,
}
/** TLS, a packet there and a packet back. */
const AROUND = 20 + 2 * 60
const WELCOME = 5000 + (500 + AROUND)
const OWN_CHANGE = 30 + 90 + AROUND
const IDLE_JSON = 60 * (40 + AROUND)
const IDLE_COMPACT = 60 * (5 + AROUND)

describe('[C10] bytes of a connection', () => {
  const traffic = (encoding: Encoding) => trafficOf({ ...WORKLOAD, encoding }, sheet)

  test('in JSON', () => {
    const { idleBytesAnHour, busyBytesAnHour } = traffic('json')
    expect(idleBytesAnHour.value).toBeCloseTo(IDLE_JSON, 6)
    // The snapshot takes three segments.
    const snapshot = 20 * 100 + 20 + 3 * 2 * 60
    const busy = IDLE_JSON + WELCOME + snapshot + OWN_CHANGE + 20 * (30 + 90 + AROUND)
    expect(busyBytesAnHour.value).toBeCloseTo(busy, 1)
  })

  test('in the compact encoding, where the welcome and the own view are JSON', () => {
    const { idleBytesAnHour, busyBytesAnHour } = traffic('compact')
    expect(idleBytesAnHour.value).toBeCloseTo(IDLE_COMPACT, 6)
    const snapshot = 20 * 30 + AROUND
    const busy = IDLE_COMPACT + WELCOME + snapshot + OWN_CHANGE + 20 * (2 + 25 + AROUND)
    expect(busyBytesAnHour.value).toBeCloseTo(busy, 1)
  })

  test('beside those of a chat app, on all connections of a user', () => {
    const texts = 10 * (300 + AROUND + 2 * (100 + AROUND))
    // With 20 bytes of TLS in each they take 11, 5 and 101 segments.
    const pictures = 0.5 * (10_000 + 20 + 11 * 2 * 60)
    const voiceNotes = 2 * (4_000 + 20 + 5 * 2 * 60)
    const videos = 0.1 * (100_000 + 20 + 101 * 2 * 60)
    const chat = 2 * (texts + pictures + voiceNotes + videos)
    const two = trafficOf({ ...WORKLOAD, devices: 2 }, sheet)
    expect(two.chatBytesAnHour.value).toBeCloseTo(chat, 6)
    expect(two.idleShare.value).toBeCloseTo((100 * 2 * IDLE_COMPACT) / chat, 6)
    expect(two.busyShare.value).toBeCloseTo((100 * 2 * two.busyBytesAnHour.value) / chat, 6)
  })
})
