// `greendot migrate`: creates or upgrades the schema behind database_url and prints what it did, so that an
// upgrade can happen before the first new server starts. Idempotent.
import { type Command, configFor, EXIT, type ExitCode, type World } from './command.ts'
import { failureLine } from './failure.ts'

export const migrate: Command = {
  name: 'migrate',
  summary: 'creates or upgrades the SQL schema',
  about: ['Works on database_url and needs no other setting. A server does the same when it starts.'],
  options: [],
  run,
}

async function run(argv: readonly string[], world: World): Promise<ExitCode> {
  const config = configFor(migrate, argv, world, 'optional')
  if (config === null) return EXIT.usage
  const { openArchive } = await import('../adapters.ts')
  try {
    const archive = await openArchive(config)
    try {
      const applied = await archive.migrate()
      for (const migration of applied) world.print(`applied ${migration}`)
      if (applied.length === 0) world.print('the schema is up to date')
    } finally {
      await archive.close()
    }
    return EXIT.ok
  } catch (error) {
    world.complain(failureLine(error, config))
    return EXIT.failed
  }
}
