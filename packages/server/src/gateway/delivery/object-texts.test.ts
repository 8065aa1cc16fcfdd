// Texts come back as they were put, whatever they are made of, and forms that no target uses any more are forgotten.
import { describe, expect, test } from 'bun:test'
import type { Presence } from '@greendot/protocol'
import fc from 'fast-check'
import { createObjectTexts } from './object-texts.ts'

const TARGETS = 4

/** Strings with what a text is taken apart at. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(',"status":', ',"last_seen":', ',"custom_status":', ',"version":7}', '"', '\\', '\\"'),
)
/** Few, so that a target often gets another text under its name. */
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('bob', 'b"ob') },
  { weight: 1, arbitrary: text },
)
const presence: fc.Arbitrary<Presence> = fc.record({
  user_id: name,
  status: fc.constantFrom('online', 'away', 'busy', 'offline', null),
  last_seen: fc.option(fc.maxSafeNat()),
  custom_status: fc.option(
    fc.record({ text: fc.option(text), emoji: fc.option(text), expires_at: fc.option(fc.maxSafeNat()) }),
  ),
  devices: fc.subarray(['web', 'mobile', 'desktop'] as const),
  version: fc.maxSafeNat(),
}) as fc.Arbitrary<Presence>

/** Objects as this version writes them, and texts of other versions and of none. */
const written = fc.oneof(
  {
    weight: 4,
    arbitrary: presence.map((object) => ({ userId: object.user_id, json: JSON.stringify(object) })),
  },
  { weight: 1, arbitrary: fc.record({ userId: name, json: fc.json() }) },
  {
    weight: 1,
    arbitrary: presence.map((object) => ({
      userId: object.user_id,
      json: JSON.stringify({ ...object, last_seen: 1.5, seen_in: 'Rome' }),
    })),
  },
)

/** The version is the last field, where there is one. */
const inVersionZero = (json: string) => json.replace(/(,"version":)\d+\}$/, '$10}')

describe('the texts of objects', () => {
  test('[W5] are what was put last, for every target', () => {
    const step = fc.record({ target: fc.nat(TARGETS - 1), put: fc.option(written) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const names = new Map<number, string>()
        const expected = new Map<number, string>()
        const texts = createObjectTexts((target) => names.get(target)!)
        for (const { target, put } of steps) {
          if (put === null) {
            texts.forget(target)
            expected.delete(target)
          } else {
            // The name of a target that has a text stays.
            if (names.get(target) !== put.userId) texts.forget(target)
            names.set(target, put.userId)
            const before = expected.get(target)
            const isSame = before !== undefined && inVersionZero(before) === inVersionZero(put.json)
            expect(texts.put(target, put.json)).toBe(!isSame)
            expected.set(target, put.json)
          }
          for (let one = 0; one < TARGETS; one++) {
            expect(texts.has(one)).toBe(expected.has(one))
            if (expected.has(one)) expect(texts.get(one)).toBe(expected.get(one)!)
          }
        }
      }),
    )
  })

  test('say the version of the object', () => {
    const texts = createObjectTexts(() => 'bob')
    const object = { user_id: 'bob', status: 'away', last_seen: 3, custom_status: null, devices: [] }
    texts.put(2, JSON.stringify({ ...object, version: 41 }))
    expect(texts.version(2)).toBe(41)
    texts.put(2, '{"version":42}')
    expect(texts.version(2)).toBe(42)
  })

  test('take little memory: targets whose objects are alike share a form, and it goes with the last of them', () => {
    const texts = createObjectTexts((target) => `user-${target}`)
    const put = (target: number, words: string) => {
      const custom = { text: words, emoji: null, expires_at: null }
      const object = { user_id: `user-${target}`, status: 'busy', last_seen: target, custom_status: custom }
      texts.put(target, JSON.stringify({ ...object, devices: ['web'], version: target }))
    }
    for (let target = 0; target < 100; target++) put(target, 'lunch')
    expect(texts.forms()).toBe(1)
    for (let target = 0; target < 100; target++) put(target, `lunch ${target}`)
    expect(texts.forms()).toBe(100)
    for (let target = 0; target < 100; target++) texts.forget(target)
    expect(texts.forms()).toBe(0)
  })
})
