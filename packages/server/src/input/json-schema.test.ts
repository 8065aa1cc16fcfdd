// The documented schemas against the checks of the server: what a schema allows is accepted, and the usual input at
// every limit is allowed.
import { describe, expect, test } from 'bun:test'
import { CUSTOM_EMOJI_BYTES_MAX, isId, utf8Length } from '@greendot/protocol'
import fc from 'fast-check'
import { spanInUrl } from './history-schemas.ts'
import {
  ANSWERED_ID_SCHEMA,
  EMOJI_SCHEMA,
  EXPIRY_MS_SCHEMA,
  EXPIRY_TEXT_SCHEMA,
  ID_SCHEMA,
  INSTANT_TEXT_SCHEMA,
  TEXT_SCHEMA,
} from './json-schema.ts'
import { customStatusBody, parse } from './schemas.ts'

interface TextSchema {
  pattern: string
  maxLength?: number
}

const RUNS = { numRuns: 2_000 }

const patternOf = ({ pattern }: TextSchema) => new RegExp(pattern, 'u')

function allows(schema: TextSchema, text: string): boolean {
  return patternOf(schema).test(text) && [...text].length <= (schema.maxLength ?? Number.POSITIVE_INFINITY)
}

/** Text that the schema allows. JSON in UTF-8 has no lone surrogates. */
const allowedBy = (schema: TextSchema) =>
  fc.stringMatching(patternOf(schema)).filter((text) => allows(schema, text) && text.isWellFormed())

const isAccepted = (body: object) => parse(customStatusBody, body).ok

describe('the schema of ids', () => {
  test('[X8] allows only ids', () => {
    fc.assert(
      fc.property(allowedBy(ID_SCHEMA), (text) => {
        expect(isId(text)).toBe(true)
        expect(allows(ANSWERED_ID_SCHEMA, text)).toBe(true)
      }),
      RUNS,
    )
  })

  test('[X8] has the same rule for every character', () => {
    const wrong: string[] = []
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code)
      if (!character.isWellFormed()) continue
      const isAllowed = allows(ID_SCHEMA, character)
      if (isAllowed !== isId(character) || isAllowed !== allows(ANSWERED_ID_SCHEMA, character))
        wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
  })

  const ids = ['x'.repeat(128), '🙂'.repeat(32), 'é'.repeat(32), 'alice@example.org', 'a:b/c?d#e%f']
  test.each(ids)('[X8] allows %p', (id) => expect(allows(ID_SCHEMA, id)).toBe(true))

  test('[X8] in answers allows every id, also one that counts as long by its characters only', () => {
    const id = fc.string({ unit: 'binary', minLength: 1, maxLength: 128 }).filter(isId)
    fc.assert(
      fc.property(id, (text) => expect(allows(ANSWERED_ID_SCHEMA, text)).toBe(true)),
      RUNS,
    )
    const between = `${'é'.repeat(28)}${'x'.repeat(72)}`
    expect([isId(between), allows(ID_SCHEMA, between), allows(ANSWERED_ID_SCHEMA, between)]).toEqual([
      true,
      false,
      true,
    ])
  })
})

describe('the schemas of a custom status', () => {
  test('[S3] [X8] allow only text that is accepted, and emoji that are accepted if their bytes fit', () => {
    fc.assert(
      fc.property(allowedBy(TEXT_SCHEMA), allowedBy(EMOJI_SCHEMA), (text, emoji) => {
        expect({ text, isAccepted: isAccepted({ text }) }).toMatchObject({ isAccepted: true })
        expect(isAccepted({ emoji })).toBe(utf8Length(emoji) <= CUSTOM_EMOJI_BYTES_MAX)
      }),
      RUNS,
    )
  })

  const emoji = ['📅', '👨‍👩‍👧‍👦', '👩🏽‍❤️‍👨🏽', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', ':calendar:', '']
  test.each(emoji)('[S3] [X8] allow the emoji %p', (one) => expect(allows(EMOJI_SCHEMA, one)).toBe(true))
})

describe('the schemas of an expiry', () => {
  test('[S1] [X8] allow only instants', () => {
    const { minimum: min, maximum: max } = EXPIRY_MS_SCHEMA
    const instant = fc.oneof(allowedBy(EXPIRY_TEXT_SCHEMA), fc.integer({ min, max }))
    fc.assert(
      fc.property(instant, (at) => {
        expect({ at, isAccepted: isAccepted({ expires_at: at }) }).toMatchObject({ isAccepted: true })
        expect(new Date(at).getTime()).toBeGreaterThanOrEqual(min - 86_400_000)
      }),
      RUNS,
    )
  })

  test('[S1] [X8] end where the server refuses', () => {
    const { minimum, maximum } = EXPIRY_MS_SCHEMA
    expect(minimum).toBeLessThan(Date.now())
    expect([isAccepted({ expires_at: maximum }), isAccepted({ expires_at: maximum + 1 })]).toEqual([
      true,
      false,
    ])
  })

  test('[S1] [X8] have every day of a leap year and of another one', () => {
    for (const [year, days] of [
      [2028, 366],
      [2100, 365],
    ] as const) {
      const at = Array.from({ length: days }, (_, day) => new Date(Date.UTC(year, 0, 1 + day)).toISOString())
      expect(at.filter((text) => !allows(EXPIRY_TEXT_SCHEMA, text))).toEqual([])
      expect(at.filter((text) => !allows(EXPIRY_TEXT_SCHEMA, text.slice(0, 10)))).toEqual([])
    }
    const missing = [
      '2027-02-29',
      '2100-02-29',
      '2028-04-31',
      '2028-13-01',
      '2028-01-01T24:00Z',
      '2025-12-31',
    ]
    expect(missing.filter((text) => allows(EXPIRY_TEXT_SCHEMA, text))).toEqual([])
  })
})

describe('the schema of instants in a URL', () => {
  test('[X8] allows only instants', () => {
    fc.assert(
      fc.property(allowedBy(INSTANT_TEXT_SCHEMA), (text) =>
        expect(parse(spanInUrl.from, text).ok).toBe(true),
      ),
      RUNS,
    )
  })

  const days = ['1972-02-29', '2000-02-29', '2020-01-01', '2024-02-29', '2026-11-16T12:30:00Z', '2096-02-29']
  test.each(days)('[X8] allows %p', (day) => expect(allows(INSTANT_TEXT_SCHEMA, day)).toBe(true))
})
