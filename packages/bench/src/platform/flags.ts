// Command lines by `parseArgs`: one table of flags for parsing and for the help, and one sentence that
// names what is wrong.
import { parseArgs } from 'node:util'
import { nearestName } from '../../../server/src/platform/config/nearest-name.ts'

export interface Flag {
  /** Without dashes. */
  name: string
  /** Stands for the value in the help; null for a switch, which `--no-<name>` turns off. */
  sign: string | null
  help: string
  /** The value without the flag. */
  fallback?: string
  isRepeatable?: true
}

export type Parsed = { ok: true; flags: FlagValues; words: string[] } | { ok: false; problem: string }

export interface FlagValues {
  /** The value given, or the fallback, or null. */
  text(name: string): string | null
  /** Null when the switch was not given. */
  isOn(name: string): boolean | null
  all(name: string): readonly string[]
}

export const wantsHelp = (argv: readonly string[]): boolean => argv.includes('--help') || argv.includes('-h')

export function parseFlags(argv: readonly string[], known: readonly Flag[]): Parsed {
  const options = Object.fromEntries(
    known.map(({ name, sign, isRepeatable }) => [
      name,
      { type: sign === null ? ('boolean' as const) : ('string' as const), multiple: isRepeatable === true },
    ]),
  )
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      allowNegative: true,
      options,
    })
    const fallbackOf = (name: string) => known.find((flag) => flag.name === name)?.fallback ?? null
    return {
      ok: true,
      words: positionals,
      flags: {
        text: (name) => (values[name] as string | undefined) ?? fallbackOf(name),
        isOn: (name) => (values[name] as boolean | undefined) ?? null,
        all: (name) => (values[name] as string[] | undefined) ?? [],
      },
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { ok: false, problem: problemOf(error, known) }
  }
}

/** `parseArgs` names the flag in quotes; its advice is for programmers. */
function problemOf(error: Error, known: readonly Flag[]): string {
  const given = /'(-[^' ]*)/.exec(error.message)?.[1] ?? ''
  switch ('code' in error ? error.code : null) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION': {
      const guess = nearestName(
        given.replace(/^-+/, ''),
        known.map(({ name }) => name),
      )
      return `${given}: no such flag; ${guess === null ? '--help lists them all' : `did you mean --${guess}?`}`
    }
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      return known.some(({ name, sign }) => given === `--${name}` && sign === null)
        ? `${given}: takes no value`
        : `${given}: needs a value, as in ${given} <value> or ${given}=<value>`
    default:
      throw error
  }
}

export function describeFlags(known: readonly Flag[]): string[] {
  const lefts = known.map(({ name, sign }) => `--${name}${sign === null ? '' : ` ${sign}`}`)
  const width = Math.max(...lefts.map((left) => left.length))
  return known.map(({ help, fallback }, index) => {
    const right = fallback === undefined ? help : `${help} [${fallback}]`
    return `  ${lefts[index]!.padEnd(width)}  ${right}`
  })
}

/** The arguments of a program without flags: ends it after its help. */
export function readArguments(help: string): string[] {
  const argv = process.argv.slice(2)
  if (!wantsHelp(argv)) return argv
  console.log(help)
  process.exit(0)
}

/** For a program that is only this: ends it after its help or after a mistake. */
export function readFlags(
  known: readonly Flag[],
  { names, help }: { names: readonly string[]; help: string },
): Extract<Parsed, { ok: true }> {
  const argv = process.argv.slice(2)
  if (wantsHelp(argv)) {
    console.log(help)
    process.exit(0)
  }
  const parsed = parseFlags(argv, known)
  const unknown = parsed.ok ? parsed.words.find((word) => !names.includes(word)) : undefined
  if (parsed.ok && unknown === undefined) return parsed
  const choices = names.length === 0 ? 'it takes flags only' : `there are ${names.join(', ')}`
  console.error(parsed.ok ? `"${unknown}": no such measurement; ${choices}` : parsed.problem)
  process.exit(2)
}
