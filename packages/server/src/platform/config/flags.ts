// Reads flags from a command line: `--name value`, `--name=value`, and for switches `--name` or
// `--no-name`. A value never starts with two dashes unless it is written with `=`, so each caller
// can take its own flags and leave the rest to the next. Values are never repeated in messages:
// one of them may be a secret.

/** Known flags (with their dashes) and what each means without a value; null where one is needed. */
export type KnownFlags = ReadonlyMap<string, string | null>

export type TakenFlags =
  | { ok: true; values: ReadonlyMap<string, string>; rest: string[] }
  | { ok: false; problem: string }

/** Takes the known flags out; the last one wins where a flag is repeated. */
export function takeFlags(argv: readonly string[], known: KnownFlags): TakenFlags {
  const values = new Map<string, string>()
  const rest: string[] = []
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index]!
    const equals = argument.indexOf('=')
    const flag = equals < 0 ? argument : argument.slice(0, equals)
    const positive = flag.replace(/^--no-/, '--')
    if (known.has(flag)) {
      const bare = known.get(flag) ?? null
      if (equals >= 0) {
        values.set(flag, argument.slice(equals + 1))
      } else if (bare !== null) {
        values.set(flag, bare)
      } else {
        const value = argv[++index]
        if (value === undefined || value.startsWith('--')) return { ok: false, problem: needsValue(flag) }
        values.set(flag, value)
      }
    } else if (equals < 0 && typeof known.get(positive) === 'string') {
      values.set(positive, 'off')
    } else {
      rest.push(argument)
    }
  }
  return { ok: true, values, rest }
}

function needsValue(flag: string): string {
  return `${flag}: needs a value, as in ${flag} <value> or ${flag}=<value>`
}
