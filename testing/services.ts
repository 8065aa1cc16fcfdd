// What tests need and npm does not bring: here, a browser. Looking comes first, installing second, and
// only where this process may: as root on a machine with apt. Whatever is missing comes with the reason,
// for the title of the tests that are skipped.
import { accessSync, constants } from 'node:fs'

export type Found = { state: 'found'; path: string } | { state: 'missing'; why: string }

const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const CHROMIUM_PLACES = [
  '/usr/bin/chromium',
  '/usr/lib/chromium/chromium',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const APT_MS_MAX = 300_000
// Another installation may be under way, and a mirror out of reach must not hold up the tests for long.
const APT_PATIENCE = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::http::Timeout=20', '-q']

let chromium: Promise<Found> | null = null

/** Finds Chromium, installing it if it can; looks once per process. */
export function findChromium(): Promise<Found> {
  chromium ??= findOrInstallChromium()
  return chromium
}

/** Where tests must not be skipped quietly. */
export const isCI = (): boolean => process.env.CI === 'true'

async function findOrInstallChromium(): Promise<Found> {
  const path = lookForChromium()
  if (path !== null) return { state: 'found', path }
  const why = await installWithApt('chromium')
  if (why !== null) return { state: 'missing', why: `no Chromium on this machine, and ${why}` }
  const installed = lookForChromium()
  if (installed !== null) return { state: 'found', path: installed }
  return { state: 'missing', why: 'apt-get installed chromium, but left no program to start' }
}

function lookForChromium(): string | null {
  const inPath = CHROMIUM_NAMES.map((name) => Bun.which(name)).find((path) => path !== null)
  return inPath ?? CHROMIUM_PLACES.find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Null when it is installed, otherwise why not. */
async function installWithApt(name: string): Promise<string | null> {
  const apt = Bun.which('apt-get')
  if (apt === null) return `there is no apt-get to install ${name} with`
  if (process.getuid?.() !== 0) return `only root may install it: apt-get install ${name}`
  console.log(`${name} is missing: installing it with apt-get, once, which takes a minute or two ...`)
  const startedAt = performance.now()
  for (const step of [['update'], ['install', '-y', '--no-install-recommends', name]]) {
    const failure = await run([apt, ...APT_PATIENCE, ...step])
    if (failure !== null) return `apt-get ${step[0]} failed: ${failure}`
  }
  console.log(`${name} is installed, in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  return null
}

/** Null when it went well, otherwise the last thing it said. */
async function run(cmd: string[]): Promise<string | null> {
  const child = Bun.spawn({
    cmd,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: APT_MS_MAX,
  })
  const [said] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (child.exitCode === 0) return null
  if (child.signalCode !== null) return `it was ended after ${APT_MS_MAX / 1000} s`
  return said.trim().split('\n').at(-1) || `exit code ${child.exitCode}`
}
