// Chromium for the tests of pages: an installed one, or else it is installed. A failure is returned as the reason
// for the titles of skipped tests. Nearly all tests use the headless shell where there is one: the same engine
// without the window around it, for a quarter of the processor time per page.
import { accessSync, constants } from 'node:fs'
import type { Found } from '../found.ts'
import { installPackage } from '../install.ts'

const SHELL_PACKAGE = 'chromium-headless-shell'
const SHELL_NAMES = [SHELL_PACKAGE, 'chrome-headless-shell']
const CHROMIUM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const CHROMIUM_PLACES = [
  '/usr/bin/chromium',
  '/usr/lib/chromium/chromium',
  '/snap/bin/chromium',
  '/opt/google/chrome/chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
/** For every browser of the tests: no window, no sandbox as root, no requests of its own. */
export const CHROMIUM_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Over a socket, because Bun now and then loses the pipe to the browser.
  '--remote-debugging-port=0',
]

/** The headless shell, or Chromium where there is none. It has no back-forward cache. */
export async function findHeadlessShell(): Promise<Found> {
  const path = lookInPath(SHELL_NAMES)
  return path === null ? findChromium() : { state: 'found', path }
}

/** Tries to. Without the shell the tests take longer and are the same, so a failure is not reported. */
export async function installHeadlessShell(): Promise<void> {
  if (lookInPath(SHELL_NAMES) === null) await installPackage(SHELL_PACKAGE)
}

let chromium: Promise<Found> | null = null

/** Finds Chromium, installing it if possible; searched once per process. */
export function findChromium(): Promise<Found> {
  chromium ??= findOrInstallChromium()
  return chromium
}

async function findOrInstallChromium(): Promise<Found> {
  const path = lookForChromium()
  if (path !== null) return { state: 'found', path }
  const why = await installPackage('chromium')
  if (why !== null) return { state: 'missing', why: `no Chromium on this machine, and ${why}` }
  const installed = lookForChromium()
  if (installed !== null) return { state: 'found', path: installed }
  return { state: 'missing', why: 'apt-get installed chromium, but left no program to start' }
}

function lookForChromium(): string | null {
  return lookInPath(CHROMIUM_NAMES) ?? CHROMIUM_PLACES.find(isExecutable) ?? null
}

function lookInPath(names: readonly string[]): string | null {
  return names.map((name) => Bun.which(name)).find((path) => path !== null) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
