// What a command of the program is, and the little of the world it may touch. Commands return an
// exit code; only the entry point ends the process.
import type { Clock } from '../platform/clock.ts'
import { type AuthNeed, type Config, loadConfig } from '../platform/config/config.ts'
import { takeFlags } from '../platform/config/flags.ts'

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export interface World {
  env: Readonly<Record<string, string | undefined>>
  readFile: (path: string) => string | null
  clock: Clock
  /** One line on stdout: what the command was asked for. */
  print: (line: string) => void
  /** One line on stderr: what went wrong. */
  complain: (line: string) => void
}

export interface Option {
  /** Without its dashes. */
  name: string
  /** Stands for the value in help; null for a switch. */
  sign: string | null
  help: string
}

export interface Command {
  name: string
  summary: string
  /** More lines for the help of this command. */
  about: readonly string[]
  options: readonly Option[]
  /** False for those that speak to no server: its settings are none of theirs. */
  takesSettings?: false
  /** True for those that print their help themselves. */
  hasOwnHelp?: true
  run(argv: readonly string[], world: World): Promise<ExitCode>
}

export type TakenOptions =
  | { ok: true; values: ReadonlyMap<string, string>; rest: string[] }
  | { ok: false; problem: string }

/** Takes the command's own options out and leaves the settings. Names come back without dashes. */
export function takeOptions(command: Pick<Command, 'options'>, argv: readonly string[]): TakenOptions {
  const known = command.options.map(({ name, sign }) => [`--${name}`, sign === null ? 'on' : null] as const)
  const taken = takeFlags(argv, new Map(known))
  if (!taken.ok) return taken
  const values = new Map([...taken.values].map(([flag, value]) => [flag.slice(2), value]))
  return { ok: true, values, rest: taken.rest }
}

/** The configuration, or null after saying what is wrong with it. */
export function configFor(argv: readonly string[], world: World, auth: AuthNeed = 'required'): Config | null {
  const loaded = loadConfig({ argv, env: world.env, readFile: world.readFile }, auth)
  if (loaded.ok) return loaded.config
  world.complain(loaded.problem)
  return null
}

/** The command was not given what it needs. */
export function misuse(problem: string, world: World): ExitCode {
  world.complain(problem)
  return EXIT.usage
}
