// grpcurl, for the tests that call the server with it and by its reflection: an installed one, or else Go fetches and
// builds it once into the cache folder of this repository. A failure is returned as the reason for the titles of
// skipped tests.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Found } from '../found.ts'
import { NO_INSTALLING } from '../install.ts'

/** As tested. */
const VERSION = 'v1.9.3'
const MODULE = `github.com/fullstorydev/grpcurl/cmd/grpcurl@${VERSION}`
const CACHE = resolve(import.meta.dir, '../../../node_modules/.cache')
/** Building it takes a minute or two; an unreachable registry must not delay the tests for long. */
const INSTALL_MS_MAX = 240_000

let grpcurl: Promise<Found> | null = null

/** Finds grpcurl, fetching it if possible; searched once per process. */
export function findGrpcurl(): Promise<Found> {
  grpcurl ??= findOrFetch()
  return grpcurl
}

async function findOrFetch(): Promise<Found> {
  const folder = join(CACHE, `grpcurl-${VERSION}`)
  const fetched = join(folder, 'grpcurl')
  const path = Bun.which('grpcurl') ?? (existsSync(fetched) ? fetched : null)
  if (path !== null) return { state: 'found', path }
  const why = await fetchInto(folder)
  if (why !== null) return { state: 'missing', why: `no grpcurl on this machine, and ${why}` }
  return { state: 'found', path: fetched }
}

/** Null when it is installed, otherwise the reason. */
async function fetchInto(folder: string): Promise<string | null> {
  if (process.env[NO_INSTALLING]) return 'Go could not fetch it before the tests'
  const go = Bun.which('go')
  if (go === null) return 'there is no Go to build it with'
  console.error('grpcurl is missing: building it with Go, once, which takes a minute or two ...')
  mkdirSync(CACHE, { recursive: true })
  const scratch = mkdtempSync(join(CACHE, 'grpcurl-'))
  const child = Bun.spawn({
    cmd: [go, 'install', MODULE],
    env: { ...process.env, GOBIN: scratch, GOFLAGS: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_MS_MAX,
  })
  const [said] = await Promise.all([new Response(child.stderr).text(), child.exited])
  try {
    if (child.signalCode !== null) return `Go was ended after ${INSTALL_MS_MAX / 1000} s`
    if (child.exitCode !== 0) return `Go failed: ${said.trim().split('\n').at(-1) || child.exitCode}`
    // In one step, so that no other process finds half of it.
    renameSync(scratch, folder)
    return null
  } catch (error) {
    // Another process may have installed it meanwhile.
    return existsSync(folder) ? null : String(error)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
