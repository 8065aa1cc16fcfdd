// What a command of the program is, and the part of the outside world it may use. Commands return an exit
// code; only the entry point ends the process.
import type { Clock } from '../platform/clock.ts'
import { type AuthNeed, type Config, loadConfig } from '../platform/config/config.ts'
import { type TakenFlags, takeFlags } from '../platform/config/flags.ts'
import { type ConfigSources, settingFlags } from '../platform/config/sources.ts'

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export interface World {
  env: Readonly<Record<string, string | undefined>>
  readFile: (path: string) => string | null
  clock: Clock
  /** One line on stdout: the result. */
  print: (line: string) => void
  /** One line on stderr: the failure. */
  complain: (line: string) => void
}

export interface Option {
  /** Without its dashes. */
  name: string
  /** The placeholder of the value in help; null for a switch. */
  sign: string | null
  help: string
}

export interface Command {
  name: string
  summary: string
  /** Further lines of the help. */
  about: readonly string[]
  options: readonly Option[]
  /** False for commands without a server, which take no settings. */
  takesSettings?: false
  /** True for those that run until a signal: the entry point gives them the flags of the runtime. */
  isServer?: true
  /** True for those that print their help themselves. */
  hasOwnHelp?: true
  run(argv: readonly string[], world: World): Promise<ExitCode>
}

/** Takes the command's own options and leaves the settings. Names come back without dashes. */
export function takeOptions(command: Pick<Command, 'options'>, argv: readonly string[]): TakenFlags {
  return takeFlags(
    argv,
    new Map(command.options.map(({ name, sign }) => [name, sign === null ? 'switch' : 'text'])),
  )
}

export type TakenArguments =
  | { ok: true; arguments: string[]; settings: string[] }
  | { ok: false; problem: string }

/** For commands with arguments: everything that is neither a flag nor the value of one, wherever it stands. */
export function takeArguments(argv: readonly string[]): TakenArguments {
  const taken = takeFlags(argv, settingFlags())
  if (!taken.ok) return taken
  const isFlag = (text: string) => text.startsWith('-')
  const known = Array.from(taken.values, ([name, value]) => `--${name}=${value}`)
  // Unknown flags stay with the settings, which name the nearest one.
  return {
    ok: true,
    arguments: taken.rest.filter((text) => !isFlag(text)),
    settings: [...known, ...taken.rest.filter(isFlag)],
  }
}

export function sourcesFor(
  { options }: Pick<Command, 'options'>,
  argv: readonly string[],
  { env, readFile }: World,
): ConfigSources {
  return { argv, ownOptions: options.map(({ name }) => name), env, readFile }
}

/** The configuration, or null after printing what is wrong with it. */
export function configFor(
  command: Pick<Command, 'options'>,
  argv: readonly string[],
  world: World,
  auth: AuthNeed = 'required',
): Config | null {
  const loaded = loadConfig(sourcesFor(command, argv, world), auth)
  if (loaded.ok) return loaded.config
  world.complain(loaded.problem)
  return null
}

export function misuse(problem: string, world: World): ExitCode {
  world.complain(problem)
  return EXIT.usage
}
