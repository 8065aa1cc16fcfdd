// Where a command prints to, and the exit codes of the program.

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export interface Outlet {
  /** One line on stdout: the result. */
  print(line: string): void
  /** One line on stderr: what went wrong. */
  complain(line: string): void
}
