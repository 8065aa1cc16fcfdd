// Python packages for tests: pip fetches them once into the cache folder of this repository, for the Python that is
// installed. A failure is returned as the reason for the titles of skipped tests.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { NO_INSTALLING } from '../install.ts'

const CACHE = resolve(import.meta.dir, '../../../node_modules/.cache')
/** An unreachable registry must not delay the tests for long. */
const INSTALL_MS_MAX = 120_000
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
  const packages = join(CACHE, `${name.toLowerCase()}-${hash}-python${version}`)
  const why = existsSync(packages) ? null : await fetchInto(packages, { name, requirements, python })
  return why === null ? { state: 'found', python, packages } : { state: 'missing', why }
}

/** Null when it is too old, or does not run. */
async function versionOf(python: string): Promise<string | null> {
  const code = `import sys; assert sys.version_info >= (${VERSION_NEEDED}); print("%d.%d" % sys.version_info[:2])`
  const child = Bun.spawn({ cmd: [python, '-c', code], stdio: ['ignore', 'pipe', 'ignore'] })
  const said = await new Response(child.stdout).text()
  return (await child.exited) === 0 ? said.trim() : null
}

/** Null when it is installed, otherwise the reason. */
async function fetchInto(
  packages: string,
  { name, requirements, python }: { name: string; requirements: string; python: string },
): Promise<string | null> {
  if (process.env[NO_INSTALLING]) return `pip could not fetch ${name} before the tests`
  console.error(`${name} is missing: fetching it with pip, once ...`)
  mkdirSync(CACHE, { recursive: true })
  const scratch = mkdtempSync(join(CACHE, 'pip-'))
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--retries', '1', '--timeout', '20']
  const child = Bun.spawn({
    cmd: [python, '-m', 'pip', 'install', ...quiet, '--target', scratch, '--requirement', requirements],
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_MS_MAX,
  })
  const [said] = await Promise.all([new Response(child.stderr).text(), child.exited])
  try {
    if (child.signalCode !== null) return `pip was ended after ${INSTALL_MS_MAX / 1000} s`
    if (child.exitCode !== 0) return `pip failed: ${said.trim().split('\n').at(-1) || child.exitCode}`
    // In one step, so that no other process finds half of it.
    renameSync(scratch, packages)
    return null
  } catch (error) {
    // Another process may have installed it meanwhile.
    return existsSync(packages) ? null : String(error)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
