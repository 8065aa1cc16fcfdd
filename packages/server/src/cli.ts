#!/usr/bin/env bun
// The entry point of the program: finds the command, gives it the outside world, and ends the process with
// its exit code: 0 done, 1 failed, 2 wrong use.
import { readFileSync } from 'node:fs'
import { EXIT, type ExitCode, type World } from './cli/command.ts'
import { COMMANDS } from './cli/commands.ts'
import { commandHelp, programHelp } from './cli/help.ts'
import { systemClock } from './platform/clock.ts'
import { nearestName } from './platform/config/nearest-name.ts'
import { runWithFlags } from './platform/runtime-flags.ts'
import { VERSION } from './platform/version.ts'

const world: World = {
  env: process.env,
  readFile: readOptionalFile,
  clock: systemClock,
  print: (line) => console.log(line),
  complain: (line) => console.error(`greendot: ${line}`),
}

process.exit(await main(process.argv.slice(2)))

async function main([name = 'help', ...argv]: string[]): Promise<ExitCode> {
  if (name === '--version' || name === '-v') {
    world.print(VERSION)
    return EXIT.ok
  }
  const wantsHelp = ['help', '--help', '-h'].includes(name)
  const asked = wantsHelp ? argv[0] : name
  if (asked === undefined) {
    world.print(programHelp(COMMANDS))
    return EXIT.ok
  }
  const command = COMMANDS.find((candidate) => candidate.name === asked)
  if (command === undefined) return unknownCommand(asked)
  if (command.hasOwnHelp) return command.run(wantsHelp ? ['--help'] : argv, world)
  if (wantsHelp || argv.includes('--help') || argv.includes('-h')) {
    world.print(commandHelp(command))
    return EXIT.ok
  }
  if (command.isServer) runWithFlags(world.env)
  return command.run(argv, world)
}

function unknownCommand(name: string): ExitCode {
  // A flag in the place of the command may contain a secret, so it is not repeated.
  if (name.startsWith('-')) {
    world.complain('the command comes first, as in: greendot serve --dev')
    return EXIT.usage
  }
  const guess = nearestName(
    name,
    COMMANDS.map((command) => command.name),
  )
  const hint = guess ? `did you mean "greendot ${guess}"?` : '"greendot help" lists them all'
  world.complain(`no such command: ${name}; ${hint}`)
  return EXIT.usage
}

function readOptionalFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
