// `greendot bench` and `greendot capacity`: commands that run the package @greendot/bench, a program of its
// own that most installations do without. It is looked for when it is asked for, and gets the arguments, the streams
// and the signals of this process; its exit code is the exit code here.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Command, type ExitCode, misuse, type World } from './command.ts'

const PACKAGE = '@greendot/bench'
/** Beside this package, or in the working folder: the one executable is in no node_modules. */
const PLACES = [import.meta.dir, process.cwd()]
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const bench = forwardingCommand('bench', 'measures a server under load and writes a report', [])
export const capacity = forwardingCommand('capacity', 'computes how many machines a number of users needs', [
  'capacity',
])

/** `places` are the folders from which the package is looked for. */
export function forwardingCommand(
  name: string,
  summary: string,
  before: readonly string[],
  places: readonly string[] = PLACES,
): Command {
  return {
    name,
    summary,
    about: [],
    options: [],
    takesSettings: false,
    hasOwnHelp: true,
    async run(argv, world) {
      const program = findProgram(places)
      if (program === null) return notInstalled(name, world)
      return passOn([program, ...before, ...argv])
    },
  }
}

function notInstalled(name: string, world: World): ExitCode {
  const instead = `clone the repository, and there: npm install && npm run greendot -- ${name}`
  return misuse(`"greendot ${name}" is in ${PACKAGE}, which is not installed here: ${instead}`, world)
}

function findProgram(places: readonly string[]): string | null {
  for (const from of places) {
    const manifest = resolveOrNull(`${PACKAGE}/package.json`, from)
    if (manifest === null) continue
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> }
    return join(dirname(manifest), bin['greendot-bench']!)
  }
  return null
}

function resolveOrNull(specifier: string, from: string): string | null {
  try {
    return Bun.resolveSync(specifier, from)
  } catch {
    return null
  }
}

async function passOn(command: readonly string[]): Promise<ExitCode> {
  let child: Bun.Subprocess | null = null
  // Before the program runs: a signal that finds no handler ends this process, and leaves the program behind.
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child?.kill(signal)
    })
  }
  child = Bun.spawn([process.execPath, ...command], {
    stdio: ['inherit', 'inherit', 'inherit'],
    // The one executable runs scripts when it is told to be the runtime.
    env: { ...process.env, BUN_BE_BUN: '1' },
  })
  return (await child.exited) as ExitCode
}
