// Servers that are measured from outside, each a process of its own on the first core: Greendot as it
// runs in production, and the bare runtime. What one operation costs is the CPU time that the kernel
// charges to the process, so the load may be slower than what it measures.
import { join } from 'node:path'
import { endProcess, pinned } from '../../platform/child.ts'
import { now, within } from '../../platform/clock.ts'
import { usageOf } from '../../platform/proc.ts'
import { createScope } from '../../platform/scope.ts'
import { startGreendot } from '../../subject/greendot.ts'
import { mintToken } from '../../wires/tokens.ts'
import type { Side } from '../measure.ts'

const SERVER_CORE = 0
const START_MS_MAX = 10_000
const BARE = join(import.meta.dir, 'bare.ts')

export interface MeasuredServer {
  url: string
  port: number
  /** What backends ask with. */
  key: string
  tokenOf(user: number): string
  /** A figure the server counts itself. */
  metric(name: string): Promise<number>
  cpuSeconds(): number
  residentBytes(): number
  stop(): Promise<void>
}

/** No client times out or is rate-limited, however seldom or often it beats. */
const SETTINGS = ['--frames-per-second=100000', '--heartbeat-ttl-ms=600000']

/** `more` are further settings, as flags. */
export async function startMeasured(more: readonly string[] = []): Promise<MeasuredServer> {
  const scope = createScope()
  const core = { gateways: 1, redis: null, port: null, core: SERVER_CORE, settings: [...SETTINGS, ...more] }
  const greendot = await startGreendot(core, scope).catch(async (error) => {
    await scope.close()
    throw error
  })
  const { target, backend } = greendot
  return {
    url: backend!.url,
    port: target.port,
    key: backend!.key,
    tokenOf: (user) => mintToken(target, user, now()),
    async metric(name) {
      const value = await greendot.metric(name)
      if (value === null) throw new Error(`Greendot has no metric ${name}`)
      return value
    },
    cpuSeconds: () => usageOf(greendot.pids()).cpuSeconds,
    residentBytes: () => usageOf(greendot.pids()).residentBytes,
    stop: scope.close,
  }
}

/** Answers HTTP requests with `text` and throws WebSocket messages away after counting them. */
export async function startBare(text = ''): Promise<MeasuredServer> {
  const child = Bun.spawn(pinned(SERVER_CORE, [process.execPath, BARE]), {
    env: { PATH: process.env.PATH ?? '', BARE_ANSWER: text },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = () => endProcess(child, 'SIGKILL')
  const url = await within(START_MS_MAX, 'starting the bare server', readyUrl(child.stdout)).catch(
    async (error) => {
      await stop()
      throw error
    },
  )
  return {
    url,
    port: Number(new URL(url).port),
    key: 'none',
    tokenOf: () => 'none',
    // It has only one.
    metric: async () => Number(await (await fetch(`${url}/messages`)).text()),
    cpuSeconds: () => usageOf([child.pid]).cpuSeconds,
    residentBytes: () => usageOf([child.pid]).residentBytes,
    stop,
  }
}

async function readyUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let printed = ''
  for await (const chunk of stdout) {
    printed += decoder.decode(chunk, { stream: true })
    const found = /ready (\S+)\n/.exec(printed)?.[1]
    if (found !== undefined) return found
  }
  throw new Error('the bare server ended before it was ready')
}

/** Operations per CPU-second of the server: `load` works for one round and says how many were handled. */
export function perServerCpuSecond(server: MeasuredServer, load: () => Promise<number>): Side {
  return async () => {
    const before = server.cpuSeconds()
    const done = await load()
    const cpu = server.cpuSeconds() - before
    if (cpu <= 0) throw new Error('the round was too short for the clock of the kernel')
    return done / cpu
  }
}
