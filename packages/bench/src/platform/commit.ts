// The commit that is measured, for results: a figure without it cannot be repeated.
import { dirname, join } from 'node:path'

/** Null where the file is not under version control, as in an installed package. */
export function commitOf(file: string): string | null {
  const folder = dirname(file)
  if (git(folder, 'ls-files', '--error-unmatch', file) === null) return null
  const top = git(folder, 'rev-parse', '--show-toplevel')
  const commit = git(folder, 'rev-parse', '--short', 'HEAD')
  if (top === null || commit === null) return null
  // Documents may change while they are filled in; programs must not.
  const changed = git(folder, 'status', '--porcelain', '--', join(top, 'packages'))
  return changed === '' ? commit : `${commit} with changes`
}

/** What it prints; null when it fails or there is no git. */
function git(cwd: string, ...args: string[]): string | null {
  if (Bun.which('git') === null) return null
  const { exitCode, stdout } = Bun.spawnSync(['git', ...args], { cwd, stderr: 'ignore' })
  return exitCode === 0 ? stdout.toString().trim() : null
}
