// Sizes, encodings and WebSocket rules that no client library would break. The server closes with the code of
// the standard, and other connections are not affected.
import { describe, expect, test } from 'bun:test'
import { FRAME_BYTES_MAX } from '@greendot/protocol'
import { until, WAIT_MS } from '../services/within.ts'
import { useAttackFixture } from './fixture.ts'
import {
  closeCodeOf,
  OPCODE,
  openRaw,
  textsOf,
  upgradeRequest,
  wireFrame,
  wireFramesOf,
} from './raw-socket.ts'

const fixture = useAttackFixture()

const PROTOCOL_ERROR = 1002
const NOT_UTF8 = 1007
const TOO_LARGE = 1009

/** A frame of exactly so many bytes that is refused only for its type. */
const padded = (bytes: number) => `{"type":"padded"}${' '.repeat(bytes - 17)}`
const bytes = (...values: number[]) => Uint8Array.from(values)
const { text, continuation, binary, ping, pong, close } = OPCODE

const fatal: [string, Uint8Array[], number][] = [
  ['64 KiB and a byte', [wireFrame(padded(FRAME_BYTES_MAX + 1))], TOO_LARGE],
  ['1 MiB', [wireFrame(padded(1 << 20))], TOO_LARGE],
  ['binary of 1 MiB', [wireFrame(new Uint8Array(1 << 20), { opcode: binary })], TOO_LARGE],
  [
    'a length of 2^63 - 1',
    [bytes(0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4)],
    TOO_LARGE,
  ],
  ['a length below zero', [bytes(0x81, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4)], TOO_LARGE],
  [
    'fragments that add up to too much',
    [wireFrame(padded(40_000), { final: false }), wireFrame(' '.repeat(40_000), { opcode: continuation })],
    TOO_LARGE,
  ],
  [
    'a thousand small fragments that never end',
    [
      wireFrame(' '.repeat(100), { final: false }),
      ...Array.from({ length: 1_000 }, () =>
        wireFrame(' '.repeat(100), { opcode: continuation, final: false }),
      ),
    ],
    TOO_LARGE,
  ],
  ['bytes that are no UTF-8', [wireFrame(bytes(0x22, 0xff, 0xfe, 0x22))], NOT_UTF8],
  ['an overlong encoding', [wireFrame(bytes(0x22, 0xc0, 0x80, 0x22))], NOT_UTF8],
  ['an encoded surrogate', [wireFrame(bytes(0x22, 0xed, 0xa0, 0x80, 0x22))], NOT_UTF8],
  ['a character cut off', [wireFrame(bytes(0x22, 0xf0, 0x9f, 0x98))], NOT_UTF8],
  ['no mask', [wireFrame('{"type":"leave"}', { masked: false })], PROTOCOL_ERROR],
  ['a reserved bit', [wireFrame('{"type":"leave"}', { reserved: 1 })], PROTOCOL_ERROR],
  [
    'compression without a negotiated extension',
    [wireFrame('{"type":"leave"}', { reserved: 4 })],
    PROTOCOL_ERROR,
  ],
  ['an unknown opcode', [wireFrame('{"type":"leave"}', { opcode: 3 })], PROTOCOL_ERROR],
  ['a continuation of nothing', [wireFrame('x', { opcode: continuation })], PROTOCOL_ERROR],
  [
    'a frame within a frame',
    [wireFrame('{', { final: false }), wireFrame('{"type":"leave"}')],
    PROTOCOL_ERROR,
  ],
  ['a ping too long', [wireFrame('x'.repeat(126), { opcode: ping })], PROTOCOL_ERROR],
  ['a ping in pieces', [wireFrame('x', { opcode: ping, final: false })], PROTOCOL_ERROR],
  ['a close of one byte', [wireFrame('x', { opcode: close })], PROTOCOL_ERROR],
  ['a close code that must not be sent', [wireFrame(bytes(3, 237), { opcode: close })], PROTOCOL_ERROR],
  [
    'a request instead of a frame',
    [Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    PROTOCOL_ERROR,
  ],
]

describe('a violation of the WebSocket protocol ends that connection only', () => {
  test.each(fatal)('%s', async (_, frames, code) => {
    await fixture.unharmed(async () => {
      const raw = await fixture.rawAttacker()
      for (const frame of frames) raw.write(frame)
      expect(closeCodeOf(await raw.closed)).toBe(code)
    })
  })

  const fine: [string, Uint8Array[]][] = [
    ['exactly 64 KiB', [wireFrame(padded(FRAME_BYTES_MAX))]],
    [
      '64 KiB in pieces',
      [
        wireFrame(padded(FRAME_BYTES_MAX - 10), { final: false }),
        wireFrame(' '.repeat(10), { opcode: continuation }),
      ],
    ],
    [
      'a frame in pieces of a byte',
      Array.from('{"type":"x"}', (letter, index) =>
        wireFrame(letter, { opcode: index === 0 ? text : continuation, final: index === 11 }),
      ),
    ],
    [
      'a ping between two pieces',
      [
        wireFrame('{"type":', { final: false }),
        wireFrame('still there?', { opcode: ping }),
        wireFrame('"x"}', { opcode: continuation }),
      ],
    ],
    ['an unsolicited pong', [wireFrame('here', { opcode: pong }), wireFrame('{"type":"x"}')]],
  ]
  test.each(fine)('%s is fine', async (_, frames) => {
    await fixture.unharmed(async () => {
      const raw = await fixture.rawAttacker()
      for (const frame of frames) raw.write(frame)
      await raw.until(/unknown_type/)
      expect(closeCodeOf(raw.received())).toBeNull()
      raw.write(wireFrame(bytes(3, 232), { opcode: close }))
      expect(closeCodeOf(await raw.closed)).toBe(1000)
    })
  })

  test('a ping is answered with what it carried', async () => {
    const raw = await fixture.rawAttacker()
    raw.write(wireFrame('are you there', { opcode: ping }))
    await raw.until(/are you there/)
    expect(wireFramesOf(raw.received()).at(-1)).toMatchObject({ opcode: pong })
    raw.end()
  })

  test('a connection that is cut in the middle of a frame is closed like any other', async () => {
    await fixture.unharmed(async () => {
      const before = await fixture.stats()
      for (const cut of [1, 3, 7, 15]) {
        const raw = await fixture.rawAttacker()
        raw.write(wireFrame('{"type":"leave"}').subarray(0, cut))
        raw.end()
        await raw.closed
      }
      const isBack = async () => (await fixture.stats()).connections === before.connections
      await until(WAIT_MS, 'the end of connections that are gone', isBack)
    })
  })
})

describe('the welcome is the first frame', () => {
  test('also when the client sends before it, and answers keep the order of the requests', async () => {
    await fixture.unharmed(async () => {
      const raw = await openRaw(fixture.url)
      const early = [
        'bad',
        '{"type":"watch","user_ids":["bob"],"ref":1}',
        'worse',
        '{"type":"nonsense","ref":2}',
      ]
      const frames = early.map((frame) => wireFrame(frame))
      // In one write with the request, so that the server has them before the session is announced.
      raw.write(Buffer.concat([Buffer.from(upgradeRequest('dev:mallory', '&platform=web')), ...frames]))
      await raw.until(/"ref":2/)
      const said = textsOf(raw.received()).map(({ type, code }) => code ?? type)
      expect(said).toEqual(['welcome', 'bad_frame', 'presence_state', 'ok', 'bad_frame', 'unknown_type'])
      raw.end()
      await raw.closed
    })
  })
})
