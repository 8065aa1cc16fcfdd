// `greendot backup`: copies the SQLite database into a file, also while a server runs on it, and prints what it
// did. PostgreSQL has its own program for this, which is named instead.
import { type Command, configFor, EXIT, type ExitCode, misuse, takeArguments, type World } from './command.ts'
import { failureLine } from './failure.ts'

export const backup: Command = {
  name: 'backup',
  summary: 'copies the SQLite database into a file',
  about: [
    'usage: greendot backup <file> [settings]',
    '',
    'Works on database_url, also while a server runs on it, without blocking it, and needs no other setting.',
    'The file must not exist. It is readable by its owner only, and has its name only when it is complete',
    'and checked. To restore: stop the server, delete the database with its -wal and -shm files, put the',
    'file in its place, and start.',
  ],
  options: [],
  run,
}

async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  const taken = takeArguments(argv)
  if (!taken.ok) return misuse(taken.problem, world)
  // First, because the value of a misspelt flag looks like a second file.
  const config = configFor(backup, taken.settings, world, 'optional')
  if (config === null) return EXIT.usage
  const [file, ...others] = taken.arguments
  if (file === undefined) return misuse('name the file, as in: greendot backup backup.db', world)
  if (others.length > 0) return misuse('name one file, as in: greendot backup backup.db', world)
  const { backUpDatabase } = await import('../adapters.ts')
  try {
    const { tables, rows, bytes } = backUpDatabase(config, file)
    world.print(`${file}: ${rows} rows of ${tables} tables in ${bytes} bytes, checked`)
    return EXIT.ok
  } catch (error) {
    world.complain(failureLine(error, config))
    return EXIT.failed
  }
}
