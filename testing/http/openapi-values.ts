// Values from JSON Schemas: valid ones, from the examples where there are any, and wrong ones, with every place
// replaced by every odd value. All from one seed.
import type { Noise } from '../hostile/noise.ts'
import type { JsonSchema, SchemaChecker } from './openapi-schemas.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A value that the schema allows. The server may still refuse it, for what a schema cannot say. */
export function fitting(schema: JsonSchema, checker: SchemaChecker, noise: Noise): unknown {
  const own = checker.resolve(schema)
  const lists = own as Record<'enum' | 'examples', unknown[] | undefined>
  if (lists.enum !== undefined) return noise.pick(lists.enum)
  if (own.const !== undefined) return own.const
  if (lists.examples !== undefined && noise.chance(0.5)) return noise.pick(lists.examples)
  const { anyOf, oneOf, required: always = [], ...shared } = own
  const choices = (anyOf ?? oneOf) as JsonSchema[] | undefined
  if (choices !== undefined) {
    const choice = noise.pick(choices)
    const required = [...(always as string[]), ...((choice.required as string[] | undefined) ?? [])]
    return fitting({ ...shared, ...choice, required }, checker, noise)
  }
  const type = noise.pick([own.type].flat())
  switch (type) {
    case 'object': {
      const required = (own.required as string[] | undefined) ?? []
      const properties = Object.entries((own.properties as Record<string, JsonSchema> | undefined) ?? {})
      const sent = properties.filter(([name]) => required.includes(name) || noise.chance(0.5))
      return Object.fromEntries(sent.map(([name, part]) => [name, fitting(part, checker, noise)]))
    }
    case 'array': {
      const min = Number(own.minItems ?? 0)
      const length = between(min, Math.min(min + 5, Number(own.maxItems ?? min + 5)), noise)
      const items = Array.from({ length }, () => fitting(own.items as JsonSchema, checker, noise))
      return own.uniqueItems === true ? [...new Set(items)] : items
    }
    case 'string':
      return textOf(own, noise)
    case 'integer':
    case 'number':
      return between(Number(own.minimum ?? 0), Number(own.maximum ?? 2 ** 40), noise)
    case 'boolean':
      return noise.chance(0.5)
    default:
      return null
  }
}

const between = (min: number, max: number, noise: Noise): number => min + noise.number(max - min + 1)

function textOf({ minLength = 1, maxLength = 12, pattern, examples }: JsonSchema, noise: Noise): string {
  const min = Number(minLength)
  const length = between(min, Math.min(min + 12, Number(maxLength)), noise)
  const text = Array.from({ length }, () => noise.pick([...LETTERS])).join('')
  if (pattern === undefined || new RegExp(String(pattern), 'u').test(text)) return text
  if (Array.isArray(examples)) return noise.pick(examples as string[])
  // The only other texts with a pattern are instants, which must be in the future.
  return `21${noise.number(90) + 10}-01-0${1 + noise.number(9)}`
}

const deep = (depth: number): unknown => {
  let value: unknown = 'deep'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { value }
  return value
}

const ODD_TEXTS = [
  '',
  ' ',
  'a b',
  'a,b',
  '\0',
  '\u0001',
  '\n',
  '\u007f',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udfff\ud800',
  '\u202etxet',
  '👩‍🚀'.repeat(20),
  'é'.repeat(65),
  'x'.repeat(128),
  'x'.repeat(129),
  'x'.repeat(141),
  'x'.repeat(20_000),
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%00',
  "'; DROP TABLE users; --",
  '{{7*7}}',
  '2020-01-01',
  '2099-13-45T99:99Z',
]
const ODD_VALUES = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  [],
  {},
  [[]],
  [null],
  [1],
  { length: 3 },
  { __proto__: null, toString: 1 },
  deep(2_000),
]
export const oddTexts: readonly string[] = ODD_TEXTS

/** A list of ids; a call takes at most 1,000. */
export const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `u${index}`)

/** The value with each place removed or replaced by each odd value, and itself replaced. */
export function* wrongs(value: unknown, noise: Noise): Generator<unknown> {
  yield* ODD_VALUES
  yield* ODD_TEXTS
  yield noise.json()
  yield many(1_000)
  yield many(1_001)
  if (typeof value !== 'object' || value === null) return
  for (const key of Object.keys(value)) {
    const { [key]: inside, ...without } = value as Record<string, unknown>
    if (!Array.isArray(value)) yield without
    for (const wrong of wrongs(inside, noise)) yield replaced(value, key, wrong)
  }
}

function replaced(value: object, key: string, by: unknown): unknown {
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? by : item))
  return { ...value, [key]: by }
}
