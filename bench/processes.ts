// Starts the processes of a benchmark, each on its own core where there are two, and reads what the
// kernel knows of them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import type { Order, Report } from './load.ts'

const CLOCK_TICKS_PER_SECOND = 100

/** The server on the first core, the load on the second: neither steals from the other. */
function pinned(core: number, command: string[]): string[] {
  return availableParallelism() > 1 && Bun.which('taskset') !== null
    ? ['taskset', '-c', String(core), ...command]
    : command
}

export interface Child {
  process: Subprocess
  /** Sends an order and resolves with the answer to it. */
  ask(order: object): Promise<never>
  /** Resolves with the next message nobody asked for. */
  said(): Promise<never>
  stop(): Promise<void>
}

export function startChild(script: string, core: number): Child {
  const waiting: ((message: never) => void)[] = []
  const unread: never[] = []
  const child = Bun.spawn(pinned(core, [process.execPath, join(import.meta.dir, script)]), {
    ipc: (message) => {
      const take = waiting.shift()
      if (take === undefined) unread.push(message as never)
      else take(message as never)
    },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  const said = () =>
    new Promise<never>((resolve) => {
      const message = unread.shift()
      if (message === undefined) waiting.push(resolve)
      else resolve(message)
    })
  return {
    process: child,
    said,
    ask(order) {
      child.send(order)
      return said()
    },
    async stop() {
      child.kill()
      await child.exited
    },
  }
}

export interface Load {
  order(order: Order): Promise<Report>
  stop(): Promise<void>
}

export function startLoad(core = 1): Load {
  const child = startChild('load.ts', core)
  return { order: (order) => child.ask(order), stop: child.stop }
}

export interface ServerUnderTest {
  port: number
  pid: number
  metric(name: string): Promise<number>
  stop(): Promise<void>
}

export async function startGreendot(flags: string[], core = 0): Promise<ServerUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-bench-'))
  const cli = join(import.meta.dir, '../packages/server/src/cli.ts')
  const command = [
    process.execPath,
    cli,
    'serve',
    '--dev',
    '--port=0',
    '--log-level=error',
    '--drain-ms=0',
    ...flags,
  ]
  const child = Bun.spawn(pinned(core, command), { cwd: folder, stdout: 'pipe', stderr: 'inherit' })
  let said = ''
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk)
    if (said.includes('\n')) break
  }
  const url = /ready (\S+)/.exec(said)?.[1]
  if (url === undefined) throw new Error(`the server did not start: ${said}`)
  return {
    port: Number(new URL(url).port),
    pid: child.pid,
    async metric(name) {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}

export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
}
