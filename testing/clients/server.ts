// Real servers for tests: in this process (quick to start, clock and settings at hand) or as a child
// process started through the command line (can be killed). Both use a free port and a folder of
// their own, which goes away with them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../../packages/server/src/compose.ts'
import { type Clock, systemClock } from '../../packages/server/src/platform/clock.ts'
import { loadConfig } from '../../packages/server/src/platform/config/config.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'
import { linesOf } from '../services/lines.ts'
import { CLI } from './cli.ts'

/** Settings by their file spelling, e.g. `{ offline_delay_ms: 200 }`. */
export type SettingsInput = Record<string, string | number | boolean>

export interface TestServer {
  url: string
  /** Host and port of gRPC; null where it is off, or where its port was given. */
  grpc: string | null
  folder: string
  stop(): Promise<void>
}

export interface TestProcess extends TestServer {
  pid: number
  /** Ends it as a crash would: nothing gets to run. The folder stays for a restart. */
  kill(): Promise<void>
  signal(signal: NodeJS.Signals): void
  exited: Promise<number>
}

const defaults: SettingsInput = {
  dev: true,
  port: 0,
  // Loaded only by the tests of gRPC.
  grpc_port: 'off',
  log_level: 'error',
  drain_ms: 50,
  // Tests ask as often as they like; those of the limit set it back.
  poll_burst: 100_000,
  write_burst: 100_000,
}

function toFlags(settings: SettingsInput, folder: string): string[] {
  const all: SettingsInput = {
    ...defaults,
    database_url: `sqlite://${join(folder, 'greendot.db')}`,
    ...settings,
  }
  return Object.entries(all).map(([name, value]) => `--${name.replaceAll('_', '-')}=${value}`)
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'greendot-test-'))

export interface StartOptions {
  /** Is given every log line, instead of stderr. */
  log?: (line: string) => void
  /** Tests of short times give a patient clock. */
  clock?: Clock | undefined
}

export async function startServer(
  settings: SettingsInput = {},
  { log, clock = systemClock }: StartOptions = {},
): Promise<TestServer> {
  const folder = newFolder()
  const loaded = loadConfig({ argv: toFlags(settings, folder), env: {}, readFile: () => null })
  if (!loaded.ok) throw new Error(loaded.problem)
  const destination = log === undefined ? {} : { destination: { write: log } }
  const logger = createLogger({ level: loaded.config.logLevel, ...destination })
  const running = await start(loaded.config, { logger, clock })
  return {
    url: running.url,
    grpc: running.grpc?.address ?? null,
    folder,
    async stop() {
      await running.stop('end of test')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** With `folder` a server starts again on what another one left. `log` is given its log lines, instead of stderr. */
export async function spawnServer(
  settings: SettingsInput = {},
  folder = newFolder(),
  log?: (line: string) => void,
): Promise<TestProcess> {
  const child = Bun.spawn([process.execPath, CLI, 'serve', ...toFlags(settings, folder)], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: log === undefined ? 'inherit' : 'pipe',
  })
  const logged = log === undefined ? null : passOn(child.stderr!, log)
  // The log is complete when the process has ended.
  const exited = child.exited.then(async (code) => {
    await logged
    return code
  })
  let said = ''
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk)
    if (said.includes('\n') && (settings.grpc_port !== 0 || said.includes('grpc ready'))) break
  }
  const url = /^greendot ready (http:\S+)\n/.exec(said)?.[1]
  if (url === undefined) throw new Error(`the server did not get ready; it said: ${said}`)
  return {
    url,
    grpc: /^greendot grpc ready (\S+)\n/m.exec(said)?.[1] ?? null,
    folder,
    pid: child.pid,
    exited,
    signal: (signal) => child.kill(signal),
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
    async stop() {
      child.kill('SIGTERM')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function passOn(stream: ReadableStream<Uint8Array>, log: (line: string) => void): Promise<void> {
  for await (const line of linesOf(stream)) log(line)
}
