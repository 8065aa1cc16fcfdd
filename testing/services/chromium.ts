// Chromium for the tests of pages: an installed one, or else it is installed. A failure is returned as the reason
// for the titles of skipped tests.
import { accessSync, constants } from 'node:fs'
import type { Found } from './found.ts'
import { installPackage } from './install.ts'

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
