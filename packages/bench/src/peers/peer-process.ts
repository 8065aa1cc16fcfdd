// Runs a process of a peer: pinned to a core, waited for until it can be used, and gone when `stop`
// returns, with all its children. Every wait has a limit, after which it is an error that carries the last
// output of the process.
import { pinned } from '../platform/child.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Scope } from '../platform/scope.ts'
import { descendants, endAll } from './process-tree.ts'

const PRINTED_CHARS_MAX = 2_000
const STOP_PATIENCE_MS = 10_000
const LAST_OUTPUT_MS_MAX = 500
const POLL_MS = 20

export interface ProcessOptions {
  name: string
  command: string[]
  core: number | null
  cwd: string
  env?: Record<string, string>
}

export interface PeerProcess {
  name: string
  pid: number
  exited: Promise<number>
  hasEnded(): boolean
  /** The last it printed. */
  lastOutput(): string
  /** May be called again; the second time has nothing to do. */
  stop(): Promise<void>
}

export function startProcess(options: ProcessOptions, scope: Scope): PeerProcess {
  const { name, command, core, cwd, env } = options
  const child = Bun.spawn(pinned(core, command), {
    cwd,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let printed = ''
  const readAll = Promise.all([child.stdout, child.stderr].map(listen))
  // Read to the end in any case: a process must never block on a full pipe.
  async function listen(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      printed = (printed + decoder.decode(chunk, { stream: true })).slice(-PRINTED_CHARS_MAX)
    }
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  async function stop(): Promise<void> {
    // The number of a process that has ended may belong to another one by now.
    if (!hasEnded()) await endAll([child.pid, ...descendants(child.pid)], STOP_PATIENCE_MS)
    await child.exited
    // The last output may still be in the pipe; a descendant that holds the pipe open must not delay the stop.
    await Promise.race([readAll, sleep(LAST_OUTPUT_MS_MAX)])
  }
  let stopping: Promise<void> | null = null
  const stopOnce = () => {
    stopping ??= stop()
    return stopping
  }
  scope.add(stopOnce)
  return {
    name,
    pid: child.pid,
    exited: child.exited,
    hasEnded,
    lastOutput: () => printed.trim(),
    stop: stopOnce,
  }
}

/** Asks `look` again and again until it finds something; otherwise stops the process and throws. */
export async function untilFound<T>(
  server: PeerProcess,
  look: () => T | null | Promise<T | null>,
  msMax: number,
): Promise<T> {
  const startedAt = now()
  let why = `was not ready after ${msMax / 1000} s`
  while (now() - startedAt < msMax) {
    const found = await look()
    if (found !== null) return found
    if (server.hasEnded()) {
      why = `ended with code ${await server.exited} before it was ready`
      break
    }
    await sleep(POLL_MS)
  }
  await server.stop()
  throw new BenchProblem(`${server.name} ${why}; it printed: ${server.lastOutput() || 'nothing'}`)
}

export async function untilListening(server: PeerProcess, port: number, msMax: number): Promise<void> {
  await untilFound(server, () => canConnect(port), msMax)
}

async function canConnect(port: number): Promise<true | null> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    return null
  }
}
