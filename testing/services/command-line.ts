// Command lines of the programs under testing/, by `parseArgs` of Node. A flag that is wrong ends the program with the
// exit code 2 and one line that names the flag, before anything is started.
import { type ParseArgsConfig, parseArgs } from 'node:util'

export function readCommandLine<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // The rest of the message is advice about words that start with a dash.
    console.error(`${error.message.split('. ', 1)[0]}; try --help`)
    process.exit(2)
  }
}
