// The compact encoding: the vectors of docs/protocol.md in both directions, and arbitrary frames that must come
// back as the same JSON, byte for byte.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { blocksOf, section } from '../../../testing/docs/docs-text.ts'
import {
  COMPACT_CHANGE,
  COMPACT_SEPARATOR,
  COMPACT_STATE,
  compactPresence,
  decodeServerFrame,
} from './compact.ts'
import { isId } from './limits.ts'
import { LAST_SEEN_BUCKETS, PLATFORMS, STATUSES } from './presence.ts'

const SEED = Number(process.env.GREENDOT_TEST_SEED ?? 1)

type ListFrame = { type: 'presence_change'; changes: object[] } | { type: 'presence_state'; states: object[] }

/** As a server writes it. */
function encodeFrame(frame: ListFrame): string {
  const isChange = frame.type === 'presence_change'
  const objects = isChange ? frame.changes : frame.states
  if (objects.length === 0) return JSON.stringify(frame)
  const entries = objects.map((object) => compactPresence(JSON.stringify(object)))
  return (isChange ? COMPACT_CHANGE : COMPACT_STATE) + entries.join(COMPACT_SEPARATOR)
}

const instant = fc.oneof(
  fc.constant(null),
  fc.maxSafeNat(),
  fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
)
const userId = fc
  .oneof(
    fc.uuid(),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  .filter(isId)
const text = fc.option(fc.string({ unit: 'binary', maxLength: 30 }))
/** In the order in which a server writes the fields. */
const presence = fc
  .record({
    user_id: userId,
    status: fc.constantFrom(...STATUSES, null),
    last_seen: instant,
    custom_status: fc.option(fc.record({ text, emoji: text, expires_at: instant })),
    devices: fc.uniqueArray(fc.constantFrom(...PLATFORMS)),
    version: fc.oneof(fc.constant(0), fc.maxSafeNat()),
  })
  .chain((object) =>
    fc.oneof(
      { weight: 8, arbitrary: fc.constant(object) },
      { weight: 1, arbitrary: fc.constant({ ...object, pushed: false }) },
      {
        weight: 1,
        arbitrary: fc
          .option(fc.constantFrom(...LAST_SEEN_BUCKETS))
          .map((last_seen_bucket) => ({ ...object, last_seen_bucket })),
      },
      // Of a server that is newer than its clients.
      { weight: 1, arbitrary: fc.constant({ ...object, devices: [...object.devices, 'watch'] }) },
      { weight: 1, arbitrary: fc.constant({ ...object, status: 'asleep' }) },
      { weight: 1, arbitrary: fc.constant({ ...object, version: -0.5 }) },
    ),
  )
const list = fc.array(presence, { maxLength: 5 })
const frame: fc.Arbitrary<ListFrame> = fc.oneof(
  list.map((changes) => ({ type: 'presence_change' as const, changes })),
  list.map((states) => ({ type: 'presence_state' as const, states })),
)

describe('the compact encoding', () => {
  const within = section('docs/protocol.md', 'Compact encoding')
  const shorts = blocksOf('docs/protocol.md', 'text', within).map(({ text }) => text.trimEnd())
  const frames = blocksOf('docs/protocol.md', 'json', within).map(({ text }): ListFrame => JSON.parse(text))

  test('[C10] every vector of the document decodes to its frame, and is what a server writes for it', () => {
    expect(shorts.length).toBeGreaterThanOrEqual(4)
    expect(shorts.map((short): unknown => decodeServerFrame(short))).toEqual(frames)
    expect(frames.map(encodeFrame)).toEqual(shorts)
  })

  test('[C10] the vectors have every status and every platform', () => {
    const texts = JSON.stringify(frames)
    for (const word of [...STATUSES, ...PLATFORMS]) expect(texts).toContain(`"${word}"`)
  })

  test('[C10] any frame comes back as the same JSON', () => {
    fc.assert(
      fc.property(frame, (one) => {
        expect(JSON.stringify(decodeServerFrame(encodeFrame(one)))).toBe(JSON.stringify(one))
      }),
      { seed: SEED, numRuns: 3_000 },
    )
  })

  test('[C10] other frames are JSON', () => {
    const ok = { type: 'ok', ref: 7 } as const
    expect(decodeServerFrame(JSON.stringify(ok))).toEqual(ok)
  })

  test('[C10] a change of status takes at most 60 bytes where ids are UUIDs, and 30 where they are short', () => {
    const change = (user_id: string) => ({
      type: 'presence_change' as const,
      changes: [
        {
          user_id,
          status: 'away',
          last_seen: 1_893_456_000_900,
          custom_status: null,
          devices: ['web', 'mobile'],
          version: 1_893_455_000_000,
        },
      ],
    })
    const lengthOf = (user_id: string) => encodeFrame(change(user_id)).length
    expect(lengthOf('0b7b2f6e-6d3f-4a52-9a0e-8a3cf1f2b6d1')).toBeLessThanOrEqual(60)
    expect(lengthOf('user-99')).toBeLessThanOrEqual(30)
    expect(JSON.stringify(change('user-99')).length).toBeGreaterThan(160)
  })
})
