// A Redis server for tests: on a free port of the loopback, in a temporary folder, without persistence unless
// asked for. It ends at the latest with the test process, also when that crashes.

import { type Child, newFolder, removeFolder, startChild } from './child.ts'
import type { Found } from './found.ts'
import { installPackage } from './install.ts'
import { freePort, LOOPBACK } from './ports.ts'
import { WAIT_MS, within } from './within.ts'

let found: Promise<Found> | null = null

/** The path of redis-server, installed if possible; searched once per process. */
export function findRedis(): Promise<Found> {
  found ??= findOrInstallRedis()
  return found
}

async function findOrInstallRedis(): Promise<Found> {
  const path = lookForRedis()
  if (path !== null) return { state: 'found', path }
  const why = await installPackage('redis-server')
  if (why !== null) return { state: 'missing', why: `no Redis on this machine, and ${why}` }
  const installed = lookForRedis()
  if (installed !== null) return { state: 'found', path: installed }
  return { state: 'missing', why: 'apt-get installed redis-server, but left no program to start' }
}

/** Tests need both programs. */
function lookForRedis(): string | null {
  return Bun.which('redis-cli') === null ? null : Bun.which('redis-server')
}

/** Settings as in redis.conf, such as `{ maxmemory: '64mb' }`. */
export type RedisSettings = Record<string, string>

export interface RedisOptions {
  settings?: RedisSettings
}

export interface Redis {
  readonly url: string
  readonly port: number
  /** Changes with each restart. */
  readonly pid: number
  /** Ends it and removes its data. */
  stop(): Promise<void>
  /** Resolves when it has ended, except after SIGSTOP and SIGCONT, which do not end it. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** On the same port, ended first if it still runs. Without `keepData` it comes back empty. */
  restart(options: { keepData: boolean }): Promise<void>
  /** What redis-cli prints, without the last line break; throws on an error reply. */
  cli(...args: string[]): Promise<string>
}

export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  const port = await freePort()
  const folder = newFolder('redis')
  const { settings = {} } = options
  let child = await startRedisChild({ port, folder, settings }).catch((error) => {
    removeFolder(folder)
    throw error
  })

  const cli = (...args: string[]) => redisCli(port, ...args)

  async function kill(signal: NodeJS.Signals): Promise<void> {
    child.signal(signal)
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') await child.exited
  }

  return {
    url: `redis://${LOOPBACK}:${port}`,
    port,
    get pid() {
      return child.pid
    },
    async stop() {
      await child.end('SIGKILL')
      removeFolder(folder)
    },
    kill,
    async restart({ keepData }) {
      // On SIGTERM it saves its data first.
      if (keepData) await child.end('SIGTERM')
      else await child.end('SIGKILL')
      child = await startRedisChild({ port, folder, settings })
      if (!keepData) await cli('FLUSHALL', 'SYNC')
    },
    cli,
  }
}

export interface RedisChildOptions {
  port: number
  folder: string
  settings: RedisSettings
}

export async function startRedisChild({ port, folder, settings }: RedisChildOptions): Promise<Child> {
  const redis = await findRedis()
  if (redis.state === 'missing') throw new Error(redis.why)
  const all: RedisSettings = {
    port: String(port),
    bind: LOOPBACK,
    dir: folder,
    save: '',
    appendonly: 'no',
    // Acknowledged writes are in the file, also after kill -9.
    appendfsync: 'always',
    ...settings,
  }
  return startChild({
    name: `redis-server on port ${port}`,
    cmd: [redis.path, ...Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])],
    folder,
    readyWhen: 'Ready to accept connections',
    endingSignal: 'SIGKILL',
  })
}

export async function redisCli(port: number, ...args: string[]): Promise<string> {
  const child = Bun.spawn({
    cmd: ['redis-cli', '-e', '-h', LOOPBACK, '-p', String(port), ...args],
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: WAIT_MS,
  })
  const [said, complained, exitCode] = await within(
    WAIT_MS,
    `redis-cli ${args[0]}`,
    Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]),
  )
  if (exitCode !== 0) throw new Error(`redis-cli ${args.join(' ')}: ${(complained || said).trim()}`)
  return said.replace(/\n$/, '')
}
