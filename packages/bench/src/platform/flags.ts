// Reads the flags of a small program: what is wrong with them is said in one line above its help.
import { type ParseArgsConfig, parseArgs } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>

/** Ends the program when help was asked for or something is not understood. `names` are the words it takes. */
export function readFlags<const Known extends Options>(
  options: Known,
  { names, help }: { names: readonly string[]; help: string },
) {
  const all = { ...options, help: { type: 'boolean', default: false } } as const
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: all })
    const unknown = positionals.find((name) => !names.includes(name))
    if (unknown !== undefined) throw new Error(`there is no measurement "${unknown}"`)
    if ((values as { help: boolean }).help) {
      console.log(help)
      process.exit(0)
    }
    return { values, positionals }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n`)
    console.error(help)
    process.exit(2)
  }
}
