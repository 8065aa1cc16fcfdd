// nginx for the tests of deploy/nginx.conf: an installed one, or else Debian's. A failure is returned as the reason
// for the titles of skipped tests.
import type { Found } from '../found.ts'
import { installPackage } from '../install.ts'

/** Debian has it where only root looks. */
const SEARCH = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin`

let found: Promise<Found> | null = null

/** Finds nginx, installing it if possible; searched once per process. */
export function findNginx(): Promise<Found> {
  found ??= findOrInstallNginx()
  return found
}

async function findOrInstallNginx(): Promise<Found> {
  const path = Bun.which('nginx', { PATH: SEARCH })
  if (path !== null) return { state: 'found', path }
  const why = await installPackage('nginx-light')
  if (why !== null) return { state: 'missing', why: `no nginx on this machine, and ${why}` }
  const installed = Bun.which('nginx', { PATH: SEARCH })
  if (installed !== null) return { state: 'found', path: installed }
  return { state: 'missing', why: 'apt-get installed nginx-light, but left no program to start' }
}
