// One greendot process of a fault test: started through the command line, killed or stopped in order. It ends
// with the test process, also when that crashes, and its folder is removed.
import { join, resolve } from 'node:path'
import type { Subprocess } from 'bun'
import type { SettingsInput } from '../clients/server.ts'
import { newFolder, removeFolder } from '../services/child.ts'
import { tellReaper } from '../services/reaper.ts'
import { within } from '../services/within.ts'

const CLI = resolve(import.meta.dir, '../../packages/server/src/cli.ts')
const SKEWED = join(import.meta.dir, 'skewed-server.ts')
const READY_MS_MAX = 20_000
const END_MS_MAX = 20_000

export interface GreendotOptions {
  command: 'gateway' | 'presence' | 'fanout' | 'serve'
  settings: SettingsInput
  /** How far its clock is ahead. */
  skewMs?: number
}

export interface Greendot {
  readonly url: string
  readonly pid: number
  isRunning(): boolean
  signal(signal: NodeJS.Signals): void
  /** SIGKILL, as in a crash. */
  kill(): Promise<void>
  /** SIGTERM, as in a deployment. */
  stop(): Promise<void>
}

export async function startGreendot({ command, settings, skewMs = 0 }: GreendotOptions): Promise<Greendot> {
  const folder = newFolder('fault')
  const flags = Object.entries(settings).map(([name, value]) => `--${name.replaceAll('_', '-')}=${value}`)
  const program = skewMs === 0 ? [CLI, command] : [SKEWED, String(skewMs), `--roles=${rolesOf(command)}`]
  const child = Bun.spawn([process.execPath, ...program, ...flags], {
    cwd: folder,
    // Workers end with their parent, also when it is killed.
    env: { PATH: process.env.PATH ?? '', BUN_FEATURE_FLAG_NO_ORPHANS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  tellReaper({ about: 'started', pid: child.pid, signal: 'SIGKILL' })
  let isRunning = true
  const exited = child.exited.then(() => {
    isRunning = false
    tellReaper({ about: 'ended', pid: child.pid })
    removeFolder(folder)
  })
  const url = await within(READY_MS_MAX, `the start of greendot ${command}`, readyUrl(child)).catch(
    (error) => {
      child.kill('SIGKILL')
      throw error
    },
  )

  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await exited
  }

  return {
    url,
    pid: child.pid,
    isRunning: () => isRunning,
    signal: (signal) => child.kill(signal),
    kill,
    async stop() {
      if (!isRunning) return
      child.kill('SIGTERM')
      await within(END_MS_MAX, `the end of greendot ${command}`, exited).catch(async (error) => {
        await kill()
        throw error
      })
    },
  }
}

const rolesOf = (command: GreendotOptions['command']): string =>
  command === 'serve' ? 'gateway,presence,fanout' : command

async function readyUrl(child: Subprocess<'ignore', 'pipe', 'inherit'>): Promise<string> {
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let output = ''
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    output += decoder.decode(chunk.value, { stream: true })
    const url = /^greendot ready (http:\S+)\n/m.exec(output)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`greendot did not get ready; its output: ${output}`)
}
