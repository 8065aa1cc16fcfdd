// Caddy for the tests of deploy/Caddyfile: an installed one, or else Debian's. A failure is returned as the reason
// for the titles of skipped tests.
import type { Found } from '../found.ts'
import { installPackage } from '../install.ts'

let found: Promise<Found> | null = null

/** Finds Caddy, installing it if possible; searched once per process. */
export function findCaddy(): Promise<Found> {
  found ??= findOrInstallCaddy()
  return found
}

async function findOrInstallCaddy(): Promise<Found> {
  const path = Bun.which('caddy')
  if (path !== null) return { state: 'found', path }
  const why = await installPackage('caddy')
  if (why !== null) return { state: 'missing', why: `no Caddy on this machine, and ${why}` }
  const installed = Bun.which('caddy')
  if (installed !== null) return { state: 'found', path: installed }
  return { state: 'missing', why: 'apt-get installed caddy, but left no program to start' }
}
