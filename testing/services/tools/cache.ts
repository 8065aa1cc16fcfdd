// What tests fetch or build with another tool, kept in the cache folder of the user, so that it is fetched once for all
// checkouts. `GREENDOT_TEST_CACHE` names another folder. A failure is returned as the reason for the titles of skipped tests.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { NO_INSTALLING } from '../install.ts'

const userCache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
const CACHE = resolve(process.env.GREENDOT_TEST_CACHE || join(userCache, 'greendot-tests'))
const UNFINISHED = 'unfinished-'
/** Longer than any fetch takes. */
const UNFINISHED_MS_MAX = 3_600_000

/** The folder for a thing; its name has all that it depends on, so another version gets another folder. */
export const cacheFolder = (name: string): string => join(CACHE, name)

export interface Fetching {
  /** What is fetched, for people. */
  what: string
  /** What fetches it, as people call it: `pip`. */
  by: string
  /** Puts it into the folder. */
  command(folder: string): string[]
  cwd?: string
  env?(folder: string): Record<string, string>
  /** An unreachable registry must not delay the tests for long. */
  msMax: number
  /** The line of its output that says what went wrong. */
  problemIn(output: string): string | undefined
}

/** Null when the folder is there, otherwise the reason. */
export async function fetchOnce(folder: string, fetching: Fetching): Promise<string | null> {
  const { what, by, msMax } = fetching
  if (existsSync(folder)) return null
  if (process.env[NO_INSTALLING]) return `${by} could not fetch ${what} before the tests`
  console.error(`${what} is missing: fetching it with ${by}, once ...`)
  let scratch: string | null = null
  try {
    mkdirSync(CACHE, { recursive: true })
    removeUnfinished()
    scratch = mkdtempSync(join(CACHE, UNFINISHED))
    const child = Bun.spawn({
      cmd: fetching.command(scratch),
      ...(fetching.cwd === undefined ? {} : { cwd: fetching.cwd }),
      env: { ...process.env, ...fetching.env?.(scratch) },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: msMax,
    })
    const [output] = await Promise.all([
      Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]),
      child.exited,
    ])
    if (child.signalCode !== null) return `${by} was ended after ${msMax / 1000} s`
    if (child.exitCode !== 0)
      return `${by} failed: ${fetching.problemIn(output.join('').trim()) || child.exitCode}`
    // In one step, so that no other process finds half of it.
    renameSync(scratch, folder)
    return null
  } catch (error) {
    // Another process may have fetched it meanwhile.
    return existsSync(folder) ? null : String(error)
  } finally {
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true })
  }
}

/** What fetches have left that were killed. */
function removeUnfinished(): void {
  for (const name of readdirSync(CACHE).filter((one) => one.startsWith(UNFINISHED))) {
    const folder = join(CACHE, name)
    const changedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (changedAt < Date.now() - UNFINISHED_MS_MAX) rmSync(folder, { recursive: true, force: true })
  }
}

export const firstLine = (output: string): string | undefined => output.split('\n')[0]
export const lastLine = (output: string): string | undefined => output.split('\n').at(-1)
