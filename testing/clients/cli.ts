// The `greendot` program as an operator starts it: with arguments, a working folder, and an environment that holds
// only what the test gives it.
import { resolve } from 'node:path'

export const CLI = resolve(import.meta.dir, '../../packages/server/src/cli.ts')

export interface CliOptions {
  cwd: string
  env?: Record<string, string>
}

export function spawnCli(args: readonly string[], { cwd, env = {} }: CliOptions) {
  return Bun.spawn([process.execPath, CLI, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Resolves with all that it said when it has ended. */
export async function resultOf(child: ReturnType<typeof spawnCli>) {
  const [code, out, err] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code, out, err }
}

export const runCli = (args: readonly string[], options: CliOptions) => resultOf(spawnCli(args, options))
