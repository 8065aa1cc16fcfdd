// Python packages for tests: pip fetches them once for the Python that is installed.
import { readFileSync } from 'node:fs'
import { cacheFolder, fetchOnce, lastLine } from './cache.ts'

const INSTALL_MS_MAX = 120_000
const QUIET = ['--quiet', '--disable-pip-version-check', '--no-input', '--retries', '1', '--timeout', '20']
const VERSION_NEEDED = [3, 10]

export type FoundPackages =
  | { state: 'found'; python: string; packages: string }
  | { state: 'missing'; why: string }

/** The packages that a requirements file names. `name` is for people and for the folder. */
export async function findPythonPackages(name: string, requirements: string): Promise<FoundPackages> {
  const python = Bun.which('python3') ?? Bun.which('python')
  if (python === null) return { state: 'missing', why: 'no Python on this machine' }
  const version = await versionOf(python)
  if (version === null) return { state: 'missing', why: `needs Python ${VERSION_NEEDED.join('.')} or later` }
  // Some packages are compiled for one version of Python.
  const hash = Bun.hash(readFileSync(requirements)).toString(36)
  const packages = cacheFolder(`${name.toLowerCase()}-${hash}-python${version}`)
  const why = await fetchOnce(packages, {
    what: name,
    by: 'pip',
    command: (folder) => [
      ...[python, '-m', 'pip', 'install', ...QUIET],
      ...['--target', folder, '--requirement', requirements],
    ],
    msMax: INSTALL_MS_MAX,
    problemIn: lastLine,
  })
  return why === null ? { state: 'found', python, packages } : { state: 'missing', why }
}

/** Null when it is too old, or does not run. */
async function versionOf(python: string): Promise<string | null> {
  const code = `import sys; assert sys.version_info >= (${VERSION_NEEDED}); print("%d.%d" % sys.version_info[:2])`
  const child = Bun.spawn({ cmd: [python, '-c', code], stdio: ['ignore', 'pipe', 'ignore'] })
  const said = await new Response(child.stdout).text()
  return (await child.exited) === 0 ? said.trim() : null
}
