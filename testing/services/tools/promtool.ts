// promtool for the tests of deploy/prometheus and of the text format: an installed one, or else that of Debian's
// Prometheus. A failure is returned as the reason for the titles of skipped tests.
import type { Found } from '../found.ts'
import { installPackage } from '../install.ts'

let found: Promise<Found> | null = null

/** Finds promtool, installing it if possible; searched once per process. */
export function findPromtool(): Promise<Found> {
  found ??= findOrInstallPromtool()
  return found
}

async function findOrInstallPromtool(): Promise<Found> {
  const path = Bun.which('promtool')
  if (path !== null) return { state: 'found', path }
  const why = await installPackage('prometheus')
  if (why !== null) return { state: 'missing', why: `no promtool on this machine, and ${why}` }
  const installed = Bun.which('promtool')
  if (installed !== null) return { state: 'found', path: installed }
  return { state: 'missing', why: 'apt-get installed prometheus, but left no promtool' }
}
