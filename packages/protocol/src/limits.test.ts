// isId against a slow and obvious definition of the same rule.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ID_BYTES_MAX, isId, utf8Length } from './limits.ts'

/** 1 to 128 bytes of UTF-8 without control characters, white space or commas. */
function isIdByDefinition(text: string): boolean {
  if (!text.isWellFormed()) return false
  const bytes = Buffer.from(text, 'utf8').length
  if (bytes < 1 || bytes > 128) return false
  for (const character of text) {
    const code = character.codePointAt(0)!
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false
    if (character === ',' || character.trim() === '') return false
  }
  return true
}

const good = [
  'a',
  '0',
  'alice@example.org',
  'user:42/β',
  '日本語',
  '👩‍🚀',
  'é',
  'e\u0301',
  '__proto__',
  'constructor',
  '..',
  'a/b?c#d%20;="\'<>',
  '\u200b',
  '\ufffd',
  'a'.repeat(128),
  'é'.repeat(64),
  '語'.repeat(42),
  '🙂'.repeat(32),
]

const bad: unknown[] = [
  '',
  ' ',
  'a b',
  'a,b',
  'a\tb',
  'a\n',
  '\u0000',
  'a\u007f',
  'a\u0085',
  'a\u00a0b',
  'a\u2028b',
  'a\u3000',
  '\ufeffa',
  '\ud800',
  'a\udfff',
  'a'.repeat(129),
  'é'.repeat(65),
  '語'.repeat(43),
  '🙂'.repeat(33),
  null,
  undefined,
  7,
  true,
  {},
  ['a'],
  new String('a'),
]

describe('ids', () => {
  test.each(good)('%p is an id', (text) => expect(isId(text)).toBe(true))
  // In lists of one, because test.each spreads lists into arguments.
  test.each(bad.map((value) => [value]))('%p is not', (value) => expect(isId(value)).toBe(false))

  test('any text is an id exactly if the definition says so', () => {
    const unit = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('grapheme' as const, 'binary' as const) },
      { weight: 1, arbitrary: fc.constant('binary-ascii' as const) },
    )
    const text = unit.chain((kind) => fc.string({ unit: kind, maxLength: 160 }))
    const units = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
      .map((codes) => String.fromCharCode(...codes))
    fc.assert(
      fc.property(fc.oneof(text, units), (value) => expect(isId(value)).toBe(isIdByDefinition(value))),
      { numRuns: 5_000 },
    )
  })

  test('every single character follows the definition', () => {
    const wrong: string[] = []
    for (let code = 0; code <= 0x1ffff; code++) {
      const character = String.fromCodePoint(code)
      if (isId(character) !== isIdByDefinition(character)) wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
  })

  test('length counts bytes, not characters', () => {
    expect(utf8Length('')).toBe(0)
    expect(utf8Length('aé語🙂')).toBe(1 + 2 + 3 + 4)
    expect(ID_BYTES_MAX).toBe(128)
  })
})
