// grpcurl, for the tests that call the server with it and by its reflection: an installed one, or else Go fetches and
// builds it once.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Found } from '../found.ts'
import { cacheFolder, fetchOnce, lastLine } from './cache.ts'

/** As tested. */
const VERSION = 'v1.9.3'
const MODULE = `github.com/fullstorydev/grpcurl/cmd/grpcurl@${VERSION}`
const FOLDER = cacheFolder(`grpcurl-${VERSION}`)
/** Building it takes a minute or two. */
const BUILD_MS_MAX = 240_000

let grpcurl: Promise<Found> | null = null

/** Finds grpcurl, building it if possible; searched once per process. */
export function findGrpcurl(): Promise<Found> {
  grpcurl ??= findOrBuild()
  return grpcurl
}

async function findOrBuild(): Promise<Found> {
  const built = join(FOLDER, 'grpcurl')
  const path = Bun.which('grpcurl') ?? (existsSync(built) ? built : null)
  if (path !== null) return { state: 'found', path }
  const why = await build()
  if (why !== null) return { state: 'missing', why: `no grpcurl on this machine, and ${why}` }
  return { state: 'found', path: built }
}

async function build(): Promise<string | null> {
  const go = Bun.which('go')
  if (go === null) return 'there is no Go to build it with'
  return fetchOnce(FOLDER, {
    what: 'grpcurl',
    by: 'Go',
    command: () => [go, 'install', MODULE],
    env: (folder) => ({ GOBIN: folder, GOFLAGS: '' }),
    msMax: BUILD_MS_MAX,
    problemIn: lastLine,
  })
}
