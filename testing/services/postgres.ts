// A PostgreSQL server for tests: its own data in a temporary folder, on a free port of the loopback,
// without a password or fsync. It ends at the latest with the test process, also when that crashes.
// PostgreSQL refuses to run as root, so root starts it as an unprivileged user.
import { chownSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { newFolder, removeFolder, startChild } from './child.ts'
import type { Found } from './found.ts'
import { installPackage } from './install.ts'
import { freePort, LOOPBACK } from './ports.ts'
import { childrenOf, signalAll, stillRunning } from './processes.ts'
import { tellReaper } from './reaper.ts'
import { until, WAIT_MS, within } from './within.ts'

const PROGRAMS = ['postgres', 'initdb']
const DEBIAN_FOLDER = '/usr/lib/postgresql'
const UNPRIVILEGED_USERS = ['postgres', 'nobody']
const USER = 'greendot'
const DATABASE = 'postgres'
const PASSWORD_FILE = 'password'

let found: Promise<Found> | null = null

/** The folder with the programs of the server, installed if possible; searched once per process. */
export function findPostgres(): Promise<Found> {
  found ??= findOrInstallPostgres()
  return found
}

async function findOrInstallPostgres(): Promise<Found> {
  const path = lookForPostgres()
  if (path !== null) return { state: 'found', path }
  const why = await installPackage('postgresql')
  if (why !== null) return { state: 'missing', why: `no PostgreSQL server on this machine, and ${why}` }
  const installed = lookForPostgres()
  if (installed !== null) return { state: 'found', path: installed }
  return { state: 'missing', why: 'apt-get installed postgresql, but left no server to start' }
}

/** `psql` alone is no server. Debian keeps the server out of PATH, one folder per version. */
function lookForPostgres(): string | null {
  const versions = listFolder(DEBIAN_FOLDER).sort((a, b) => Number(b) - Number(a))
  const inPath = (process.env.PATH ?? '').split(':').filter((folder) => folder !== '')
  const folders = [...versions.map((version) => join(DEBIAN_FOLDER, version, 'bin')), ...inPath]
  return folders.find((folder) => PROGRAMS.every((name) => Bun.which(name, { PATH: folder }))) ?? null
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export interface PostgresOptions {
  /** As in postgresql.conf, such as `{ max_connections: '20' }`. */
  settings?: Record<string, string>
  /** Without one, every client may connect. */
  password?: string
}

export interface Postgres {
  /** The URL of an empty database. */
  readonly url: string
  readonly port: number
  /** The id of the main process; it changes with each restart. */
  readonly pid: number
  /** A URL with a schema of its own: as empty as a new database, and faster to create. */
  newSchema(): Promise<string>
  /** Ends it and removes its data. */
  stop(): Promise<void>
  /** Resolves when it and all its processes have ended. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Pauses all its processes: connections stay open without an answer. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** On the same port with the same data, ended first if it still runs. */
  restart(): Promise<void>
}

export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const programs = await findPostgres()
  if (programs.state === 'missing') throw new Error(programs.why)
  const user = process.getuid?.() === 0 ? await unprivilegedUser() : null
  const port = await freePort()
  const folder = newFolder('postgres')
  if (user !== null) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const { password = null } = options
  if (password !== null) writeFileSync(join(folder, PASSWORD_FILE), password)
  await initialise(join(programs.path, 'initdb'), data, folder, user, password !== null)

  const settings = {
    port: String(port),
    listen_addresses: LOOPBACK,
    unix_socket_directories: '',
    fsync: 'off',
    full_page_writes: 'off',
    // Otherwise a kill leaves files behind outside of its folder.
    dynamic_shared_memory_type: 'mmap',
    // The line that says it is ready, and nothing about statements that fail.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    ...options.settings,
  }
  const start = () =>
    startChild({
      name: `postgres on port ${port}`,
      cmd: [
        join(programs.path, 'postgres'),
        '-D',
        data,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      folder,
      readyWhen: 'database system is ready to accept connections',
      endingSignal: 'SIGQUIT',
      user,
    })
  let child = await start()
  let schemas = 0
  let paused: number[] = []

  const login = password === null ? USER : `${USER}:${encodeURIComponent(password)}`
  const url = `postgres://${login}@${LOOPBACK}:${port}/${DATABASE}`

  async function newSchema(): Promise<string> {
    schemas += 1
    const name = `test_${schemas}`
    const sql = new SQL(url, { max: 1, database: DATABASE })
    try {
      await sql.unsafe(`CREATE SCHEMA ${name}`)
    } finally {
      await sql.close()
    }
    return `${url}?search_path=${name}`
  }

  function resume(): void {
    signalAll([...paused, child.pid], 'SIGCONT')
    for (const pid of paused) tellReaper({ about: 'ended', pid })
    paused = []
  }

  async function kill(signal: NodeJS.Signals): Promise<void> {
    const all = [child.pid, ...(await childrenOf(child.pid))]
    // A paused process would not handle it.
    resume()
    child.signal(signal)
    await child.exited
    // After a kill -9 the others end by themselves, and until then a restart finds its data in use.
    await until(WAIT_MS, 'the end of postgres', async () => (await stillRunning(all)).length === 0)
  }

  return {
    url,
    port,
    get pid() {
      return child.pid
    },
    newSchema,
    async stop() {
      if (child.isRunning()) await kill('SIGQUIT')
      removeFolder(folder)
    },
    kill,
    async pause() {
      // Its children after it, so that it starts no more of them meanwhile.
      signalAll([child.pid], 'SIGSTOP')
      paused = await childrenOf(child.pid)
      signalAll(paused, 'SIGSTOP')
      // Should it end now, they would not notice.
      for (const pid of paused) tellReaper({ about: 'started', pid, signal: 'SIGKILL' })
    },
    async resume() {
      resume()
    },
    async restart() {
      if (child.isRunning()) await kill('SIGINT')
      child = await start()
    },
  }
}

interface UnixUser {
  uid: number
  gid: number
}

async function unprivilegedUser(): Promise<UnixUser> {
  for (const name of UNPRIVILEGED_USERS) {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((which) => outputOf(['id', which, name])))
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(`postgres does not run as root, and there is no user ${UNPRIVILEGED_USERS.join(' or ')}`)
}

async function outputOf(cmd: string[]): Promise<string> {
  const child = Bun.spawn({ cmd, stdio: ['ignore', 'pipe', 'ignore'] })
  return (await new Response(child.stdout).text()).trim()
}

async function initialise(
  program: string,
  data: string,
  folder: string,
  user: UnixUser | null,
  hasPassword: boolean,
): Promise<void> {
  const login = hasPassword ? ['--auth=scram-sha-256', `--pwfile=${PASSWORD_FILE}`] : ['--auth=trust']
  const child = Bun.spawn({
    cmd: [program, '-D', data, '-U', USER, '--encoding=UTF8', '--locale=C', '--no-sync', ...login],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: WAIT_MS,
    ...(user ?? {}),
  })
  const said = within(WAIT_MS, 'initdb', new Response(child.stderr).text())
  const [complaint, exitCode] = await Promise.all([said, child.exited])
  if (exitCode !== 0) throw new Error(`initdb failed: ${complaint.trim()}`)
}
