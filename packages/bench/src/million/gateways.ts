// The deployment for very many users: as many gateways as the limit of open files demands, on one port or each on its
// own, one Redis, and one process that sweeps and answers queries. They start a few at a time, because all of them share two cores.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { chunksOf } from '../../../server/src/platform/chunks.ts'
import { endProcess } from '../platform/child.ts'
import { within } from '../platform/clock.ts'
import { freePort } from '../platform/ports.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Scope } from '../platform/scope.ts'
import { findGreendot } from '../subject/greendot.ts'
import type { TargetSpec } from '../subject/subject.ts'

const HOST = '127.0.0.1'
const START_MS_MAX = 60_000
const STARTED_TOGETHER = 4
/** Redis has a core to itself elsewhere. Here it shares two with all gateways, and would wait for its turn behind them. */
const AFTER_REDIS = ['nice', '-n', '10']

export interface Deployment {
  target: TargetSpec
  /** The ports of the gateways: one, or one for each. */
  ports: readonly number[]
  gatewayPids(): readonly number[]
  presencePids(): readonly number[]
  /** Kills one gateway. */
  kill(): Promise<void>
  /** Starts as many as are missing. */
  startMissing(): Promise<void>
}

export interface DeploymentOptions {
  folder: string
  /** The script of the server; null is the installed one. */
  program: string | null
  gateways: number
  /** All gateways on one port, where the system chooses one for each connection. */
  isPortShared: boolean
  redisUrl: string
  settings: readonly string[]
  onStarted(gateways: number): void
}

export async function startDeployment(options: DeploymentOptions, scope: Scope): Promise<Deployment> {
  const { folder, program, gateways, isPortShared, redisUrl, settings, onStarted } = options
  const secret = randomBytes(32).toString('hex')
  const ports = Array.from({ length: isPortShared ? 1 : gateways }, freePort)
  const env = {
    PATH: process.env.PATH ?? '',
    GREENDOT_JWT_SECRET: secret,
    GREENDOT_SERVER_KEYS: randomBytes(16).toString('hex'),
  }
  const common = [
    `--database-url=sqlite://${join(folder, 'greendot.db')}`,
    `--redis-url=${redisUrl}`,
    '--log-level=warn',
    '--drain-ms=0',
    '--away-after-ms=86400000',
    ...settings,
  ]

  async function start(flags: readonly string[]) {
    const command = [
      ...AFTER_REDIS,
      process.execPath,
      program ?? findGreendot(),
      'serve',
      ...common,
      ...flags,
    ]
    const child = Bun.spawn(command, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
    scope.add(() => endProcess(child, 'SIGKILL'))
    await within(START_MS_MAX, 'starting a process of the server', ready(child.stdout))
    return child
  }
  const startGateway = (place: number) =>
    start([
      `--port=${ports[place % ports.length]}`,
      ...(isPortShared ? ['--reuse-port'] : []),
      '--roles=gateway',
    ])
  const presence = await start([`--port=${freePort()}`, '--roles=presence'])
  const running = new Map<number, Awaited<ReturnType<typeof start>>>()

  async function startMissing(): Promise<void> {
    const missing = Array.from({ length: gateways }, (_, place) => place).filter(
      (place) => !running.has(place),
    )
    for (const places of chunksOf(missing, STARTED_TOGETHER)) {
      await Promise.all(places.map(async (place) => running.set(place, await startGateway(place))))
      onStarted(running.size)
    }
  }
  await startMissing()

  return {
    target: { wire: 'greendot', host: HOST, port: ports[0]!, secret, claims: {}, extra: {} },
    ports,
    gatewayPids: () => Array.from(running.values(), ({ pid }) => pid),
    presencePids: () => [presence.pid],
    async kill() {
      const [victim] = running
      if (victim === undefined) throw new BenchProblem('no gateway is running')
      const [place, child] = victim
      running.delete(place)
      await endProcess(child, 'SIGKILL')
    },
    startMissing,
  }
}

async function ready(stdout: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder()
  let printed = ''
  for await (const chunk of stdout) {
    printed += decoder.decode(chunk, { stream: true })
    if (/^greendot ready \S+\n/m.test(printed)) return
  }
  throw new BenchProblem('a process of the server ended before it was ready')
}
