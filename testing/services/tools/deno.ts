// Deno, for the tests that run the client kit in it: an installed one, or else npm fetches it once into the cache
// folder of this repository. A failure is returned as the reason for the titles of skipped tests.
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Found } from '../found.ts'
import { NO_INSTALLING } from '../install.ts'

/** As tested; another version gets a folder of its own. */
const PACKAGE = 'deno@2.9.6'
const CACHE = resolve(import.meta.dir, '../../../node_modules/.cache')
/** The program is about 40 MB to fetch; an unreachable registry must not delay the tests for long. */
const INSTALL_MS_MAX = 90_000

let deno: Promise<Found> | null = null

/** Finds Deno, fetching it if possible; searched once per process. */
export function findDeno(): Promise<Found> {
  deno ??= findOrFetchDeno()
  return deno
}

async function findOrFetchDeno(): Promise<Found> {
  const path = Bun.which('deno') ?? programIn(join(CACHE, PACKAGE))
  if (path !== null) return { state: 'found', path }
  const why = await fetchDeno()
  if (why !== null) return { state: 'missing', why: `no Deno on this machine, and ${why}` }
  const fetched = programIn(join(CACHE, PACKAGE))
  if (fetched !== null) return { state: 'found', path: fetched }
  return { state: 'missing', why: 'npm has no Deno for this kind of machine' }
}

/** npm takes only the package of this platform, and the program in it needs no install script. */
function programIn(folder: string): string | null {
  const pattern = new Bun.Glob('node_modules/@deno/*/deno{,.exe}')
  try {
    const [file] = pattern.scanSync({ cwd: folder })
    return file === undefined ? null : join(folder, file)
  } catch {
    return null
  }
}

/** Null when it is installed, otherwise the reason. */
async function fetchDeno(): Promise<string | null> {
  if (process.env[NO_INSTALLING]) return 'npm could not fetch it before the tests'
  const npm = Bun.which('npm')
  if (npm === null) return 'there is no npm to fetch it with'
  console.error(`${PACKAGE} is missing: fetching it with npm, once ...`)
  mkdirSync(CACHE, { recursive: true })
  const scratch = mkdtempSync(join(CACHE, 'deno-'))
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  const child = Bun.spawn({
    cmd: [npm, 'install', '--prefix', scratch, ...quiet, PACKAGE],
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_MS_MAX,
  })
  const [said] = await Promise.all([new Response(child.stderr).text(), child.exited])
  try {
    if (child.signalCode !== null) return `npm was ended after ${INSTALL_MS_MAX / 1000} s`
    if (child.exitCode !== 0) return `npm failed: ${said.trim().split('\n')[0] || child.exitCode}`
    // In one step, so that no other process finds half of it.
    renameSync(scratch, join(CACHE, PACKAGE))
    return null
  } catch (error) {
    // Another process may have installed it meanwhile.
    return programIn(join(CACHE, PACKAGE)) === null ? String(error) : null
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
