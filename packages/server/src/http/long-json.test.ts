// Parsing in turns is JSON.parse: the same value to the last detail, or a refusal of the same text. Texts
// are cut as small as can be, so that every place where a cut may fall is met; the real size comes last.
import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { parseLongJson } from './long-json.ts'

const SEED = Number(process.env.GREENDOT_TEST_SEED ?? 1)
const RUNS = 4_000 * Number(process.env.GREENDOT_TEST_RUNS_FACTOR ?? 1)

/** No other work waits for a turn here. */
const atOnce = { nextTurn: async () => {} }

/** All that tells two values apart: the order of keys, the sign of zero, prototypes. */
function told(value: unknown): string {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(told).join()}]`
  const isPlain = Object.getPrototypeOf(value) === Object.prototype
  const members = Object.entries(Object.getOwnPropertyDescriptors(value)).map(
    ([key, { value, ...flags }]) =>
      `${JSON.stringify(key)}${Object.values(flags).every(Boolean) ? '' : '!'}:${told(value)}`,
  )
  return `${isPlain ? '' : 'odd '}{${members.join()}}`
}

async function outcomeOf(parse: () => unknown): Promise<string> {
  try {
    return told(await parse())
  } catch (error) {
    if (error instanceof SyntaxError) return 'refused'
    throw error
  }
}
const byTheBook = (text: string) => outcomeOf(() => JSON.parse(text))
const inTurns = (text: string, pieceChars: number) => outcomeOf(() => parseLongJson(text, atOnce, pieceChars))

const blank = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 3 })
const text = fc.oneof(
  fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
  fc.constantFrom('""', '"[{,"', '"\\\\"', '"\\""', '"\\\\\\"]"', '"\\u005d\\n\\/"', '"\\ud83d"', '"\ud83d"'),
)
const key = fc.oneof(
  fc.constantFrom('"a"', '"b"', '"\\u0061"', '""', '"2"', '"1"', '"__proto__"', '"constructor"'),
  text,
)
const number = fc.oneof(
  fc.constantFrom('0', '-0', '-0.0e-0', '1E400', '-1e400', '1e-400', '12345678901234567890', '0.1', '2e+1'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
)
const { value: validText } = fc.letrec<{ value: string; list: string; object: string; spaced: string }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('null', 'true', 'false'),
      number,
      text,
      tie('list'),
      tie('object'),
    ),
    spaced: fc.tuple(blank, tie('value'), blank).map((parts) => parts.join('')),
    list: fc.oneof(
      fc.array(tie('spaced')).map((members) => `[${members.join()}]`),
      blank.map((space) => `[${space}]`),
    ),
    object: fc.oneof(
      fc
        .array(fc.tuple(blank, key, blank, tie('spaced')))
        .map((members) => `{${members.map(([a, key, b, value]) => `${a}${key}${b}:${value}`).join()}}`),
      blank.map((space) => `{${space}}`),
    ),
  }),
)
const spacedText = fc.tuple(blank, validText, blank).map((parts) => parts.join(''))
const pieceChars = fc.integer({ min: 0, max: 12 })

const SCRAPS = [
  ...'[]{},:"\\0-.e 1\u00a0\ufeff\u0000',
  'null',
  '""',
  '"a":',
  '[]',
  '{}',
  '\\u00',
  "'",
  '/**/',
]
/** Something is taken away there and something else put in its place. */
const damage = fc.record({
  at: fc.nat(),
  length: fc.nat({ max: 3 }),
  scrap: fc.oneof(fc.constant(''), fc.constantFrom(...SCRAPS)),
})
const damagedText = fc
  .tuple(spacedText, fc.array(damage, { minLength: 1, maxLength: 3 }))
  .map(([text, damages]) =>
    damages.reduce((damaged, { at, length, scrap }) => {
      const start = at % (damaged.length + 1)
      return damaged.slice(0, start) + scrap + damaged.slice(start + length)
    }, text),
  )

const assertSame = (texts: fc.Arbitrary<string>) =>
  fc.assert(
    fc.asyncProperty(texts, pieceChars, async (text, pieceChars) => {
      expect(await inTurns(text, pieceChars)).toBe(await byTheBook(text))
    }),
    { seed: SEED, numRuns: RUNS },
  )

/** That the texts are what they are meant to be. */
const outcomesOf = (texts: fc.Arbitrary<string>) =>
  Promise.all(fc.sample(texts, { seed: SEED, numRuns: 500 }).map(byTheBook))

describe('cut into small pieces', () => {
  test('[W2] every valid text means the same', async () => {
    await assertSame(spacedText)
    expect(await outcomesOf(spacedText)).not.toContain('refused')
  })

  test('[W2] every damaged text is refused, unless it is as good as before', async () => {
    await assertSame(damagedText)
    const refused = (await outcomesOf(damagedText)).filter((outcome) => outcome === 'refused').length
    expect([refused > 100, refused < 450]).toEqual([true, true])
  })

  test('[W2] so is every short text there is of brackets, commas and members', async () => {
    const parts = ['[', ']', '{', '}', ',', '1', '"a":', '-', ' ']
    let texts = ['']
    for (let length = 0; length <= 5; length++) {
      for (const text of texts) {
        if ((await inTurns(text, 0)) !== (await byTheBook(text))) throw new Error(`not the same: ${text}`)
      }
      texts = texts.flatMap((text) => parts.map((part) => text + part))
    }
    expect(texts).toHaveLength(parts.length ** 6)
  })

  test('[W2] a repeated key takes the place of the first, also across slices', async () => {
    const texts = [
      '{"a":[1,2],"b":2,"a":[3]}',
      '{"b":1,"a":2,"b":[{"a":1}],"c":3}',
      '{"a":[1],"a":null}',
      '{"__proto__":[1,[2]],"__proto__":{"a":[3]},"b":[]}',
      '{"2":[1],"1":[2],"a":[3],"2":[4]}',
    ]
    for (const text of texts) {
      for (const pieceChars of [0, 1, 3, 7])
        expect(await inTurns(text, pieceChars)).toBe(await byTheBook(text))
    }
  })
})

describe('as long as a body may be', () => {
  const BYTES = 1024 * 1024
  const ids = Array.from({ length: 100_000 }, (_, n) => `u${n}`)

  const list = JSON.stringify(ids)
  const another = JSON.stringify(ids.slice(0, 5_000))
  const texts: Record<string, string> = {
    'a list': `{"before":[1,{"a":2}],"user_ids":${list},"after":{"a":[3]}}`,
    'two values': `${list}${another}`,
    'a list without a comma behind it': `[${list} ${another}]`,
    'a list that is cut off': list.slice(0, -1),
    'a list with a comma too many': `${list.slice(0, -1)},]`,
    'brackets in brackets': `${'{"a":['.repeat(90_000)}1${']}'.repeat(90_000)}`,
  }

  test.each(Object.keys(texts))('[W2] [C9] %s: no turn parses more than a small part', async (name) => {
    const text = texts[name]!
    // Those are too deep to be told here.
    const expected = name === 'brackets in brackets' ? null : await byTheBook(text)
    let turns = 0
    const clock = {
      async nextTurn() {
        turns += 1
      },
    }
    const parse = spyOn(JSON, 'parse')
    const outcome = await parseLongJson(text, clock).catch((error: unknown) => error)
    const longest = parse.mock.calls.reduce((chars, [piece]) => Math.max(chars, piece.length), 0)
    parse.mockRestore()
    expect(longest).toBeLessThan(20_000)
    expect(turns).toBeGreaterThan(text.length / 20_000)
    if (expected === 'refused') expect(outcome).toBeInstanceOf(SyntaxError)
    else if (expected !== null) expect(told(outcome)).toBe(expected)
  })

  test('[W2] brackets in brackets to the very end are no trouble', async () => {
    const depth = BYTES / 2
    let inner = await parseLongJson('['.repeat(depth) + ']'.repeat(depth), atOnce)
    let found = 0
    for (; Array.isArray(inner); inner = inner[0]) found += 1
    expect(found).toBe(depth)
    for (const text of [
      '['.repeat(BYTES),
      `${'['.repeat(depth)}${']'.repeat(depth - 1)}}`,
      '{"a":'.repeat(9e4),
    ])
      await expect(parseLongJson(text, atOnce)).rejects.toThrow(SyntaxError)
  })

  test('[W2] one long string, or nothing but white space, is taken as it is', async () => {
    const long = 'x"\\é'.repeat(BYTES / 8)
    expect(await parseLongJson(JSON.stringify(long), atOnce)).toBe(long)
    expect(await parseLongJson(JSON.stringify([long, [long]]), atOnce)).toEqual([long, [long]])
    expect(await parseLongJson(`${' '.repeat(BYTES)}[]`, atOnce)).toEqual([])
    await expect(parseLongJson(' '.repeat(BYTES), atOnce)).rejects.toThrow(SyntaxError)
  })
})
