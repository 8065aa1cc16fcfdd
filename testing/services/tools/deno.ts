// Deno, for the tests that run the client kit in it: an installed one, or else npm fetches it once.
import { join } from 'node:path'
import type { Found } from '../found.ts'
import { cacheFolder, fetchOnce, firstLine } from './cache.ts'

/** As tested. */
const PACKAGE = 'deno@2.9.6'
const FOLDER = cacheFolder(PACKAGE)
/** The program is about 40 MB to fetch. */
const FETCH_MS_MAX = 90_000
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']

let deno: Promise<Found> | null = null

/** Finds Deno, fetching it if possible; searched once per process. */
export function findDeno(): Promise<Found> {
  deno ??= findOrFetch()
  return deno
}

async function findOrFetch(): Promise<Found> {
  const path = Bun.which('deno') ?? fetchedProgram()
  if (path !== null) return { state: 'found', path }
  const why = await fetchDeno()
  if (why !== null) return { state: 'missing', why: `no Deno on this machine, and ${why}` }
  const fetched = fetchedProgram()
  if (fetched !== null) return { state: 'found', path: fetched }
  return { state: 'missing', why: 'npm has no Deno for this kind of machine' }
}

/** npm takes only the package of this platform, and the program in it needs no install script. */
function fetchedProgram(): string | null {
  const pattern = new Bun.Glob('node_modules/@deno/*/deno{,.exe}')
  try {
    const [file] = pattern.scanSync({ cwd: FOLDER })
    return file === undefined ? null : join(FOLDER, file)
  } catch {
    return null
  }
}

async function fetchDeno(): Promise<string | null> {
  const npm = Bun.which('npm')
  if (npm === null) return 'there is no npm to fetch it with'
  return fetchOnce(FOLDER, {
    what: PACKAGE,
    by: 'npm',
    command: (folder) => [npm, 'install', '--prefix', folder, ...QUIET, PACKAGE],
    msMax: FETCH_MS_MAX,
    problemIn: firstLine,
  })
}
