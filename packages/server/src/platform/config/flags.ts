// Reads flags from a command line with node:util's parseArgs: `--name value`, `--name=value`, and for
// switches `--name` and `--no-name`. Each caller takes the flags it knows and leaves the rest to the next.
// Messages never repeat a value: it may be a secret, which is why parseArgs' own messages are not used.
import { parseArgs } from 'node:util'
import { nearestName } from './nearest-name.ts'

export type FlagType = 'text' | 'switch'

export type TakenFlags =
  | { ok: true; values: ReadonlyMap<string, string>; rest: string[] }
  | { ok: false; problem: string }

/** Takes the known flags, named without dashes. The last one wins; a switch is 'on' or 'off'. */
export function takeFlags(argv: readonly string[], known: ReadonlyMap<string, FlagType>): TakenFlags {
  const options = Array.from(known, ([name, type]) => {
    return [name, { type: type === 'text' ? ('string' as const) : ('boolean' as const) }]
  })
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(options),
    strict: false,
    allowNegative: true,
    tokens: true,
  })
  const values = new Map<string, string>()
  // A group of short options is several tokens with one index.
  const restIndexes = new Set<number>()
  for (const token of tokens) {
    const type = token.kind === 'option' ? known.get(token.name) : undefined
    if (token.kind !== 'option' || type === undefined) {
      restIndexes.add(token.index)
      continue
    }
    const { name, rawName, value, inlineValue } = token
    const isNegated = rawName !== `--${name}`
    if (type === 'switch') values.set(name, value ?? (isNegated ? 'off' : 'on'))
    else if (isNegated) restIndexes.add(token.index)
    else if (value === undefined || (!inlineValue && value.startsWith('--'))) {
      return { ok: false, problem: `--${name}: needs a value, as in --${name} <value> or --${name}=<value>` }
    } else values.set(name, value)
  }
  return { ok: true, values, rest: Array.from(restIndexes, (index) => argv[index]!) }
}

/** What is wrong with an argument that no caller took. */
export function strayProblem(argument: string, known: readonly string[]): string {
  if (!argument.startsWith('-'))
    return 'a value belongs to no flag; write settings as --name value or --name=value'
  const flag = argument.replace(/=.*/s, '')
  return unknownName(
    flag,
    known.map((name) => `--${name}`),
  )
}

export function unknownName(name: string, known: readonly string[]): string {
  const guess = nearestName(name, known)
  return `${name}: no such setting; ${guess ? `did you mean ${guess}?` : '"greendot serve --help" lists them all'}`
}
