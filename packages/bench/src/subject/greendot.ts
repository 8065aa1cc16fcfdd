// Greendot as the server under test: real processes with token checks and a database, in a temporary folder. The
// program sets its runtime flags itself, as after `npm start`. Several gateways share one port and one Redis.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Encoding } from '@greendot/protocol'
import { endProcess, pinned } from '../platform/child.ts'
import { within } from '../platform/clock.ts'
import { freePort } from '../platform/ports.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Scope } from '../platform/scope.ts'
import { ENCODING } from '../wires/greendot-wire.ts'
import { startKafka } from './kafka.ts'
import { startRedis } from './redis.ts'
import type { Subject } from './subject.ts'

export interface GreendotSpec {
  /** The script of the `greendot` command; without it, that of the installed package. */
  program?: string
  gateways: number
  /** `own` starts a Redis server; null is the embedded store. */
  redis: 'own' | { url: string } | null
  /** The streaming deployment: `own` starts a broker. Then the owner of users and the fan-out are processes apart. */
  kafka?: 'own' | { brokers: string } | null
  port: number | null
  core: number | null
  /** In which the load is sent presence. */
  encoding?: Encoding
  /** More settings of `greendot serve`, as flags. */
  settings: readonly string[]
}

const HOST = '127.0.0.1'
const START_MS_MAX = 30_000
/** Longer than any drain_ms a scenario sets, and what comes after it. */
const DRAIN_MS_MAX = 30_000
const METRICS_MS_MAX = 10_000
/** With Kafka, what other processes do than those with the connections. */
const APART = [
  { role: 'presence', title: 'the owner of users' },
  { role: 'fanout', title: 'the fan-out' },
] as const

interface Manifest {
  name?: string
  bin?: Record<string, string>
}

/** The script of the `greendot` command in the package that is installed beside this one. */
export function findGreendot(): string {
  let folder = dirname(Bun.resolveSync('greendot', import.meta.dir))
  for (;;) {
    const manifest = join(folder, 'package.json')
    const { name, bin }: Manifest = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {}
    if (name === 'greendot' && bin?.greendot !== undefined) return join(folder, bin.greendot)
    if (folder === dirname(folder))
      throw new BenchProblem('the package greendot has no command: reinstall it')
    folder = dirname(folder)
  }
}

export async function startGreendot(spec: GreendotSpec, scope: Scope): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'greendot-bench-'))
  scope.add(() => rmSync(folder, { recursive: true, force: true }))
  const secret = randomBytes(32).toString('hex')
  const key = randomBytes(16).toString('hex')
  const port = spec.port ?? freePort()
  const redis = spec.redis === 'own' ? await startRedis(folder, scope) : null
  const redisUrl = redis?.url ?? (spec.redis !== null && spec.redis !== 'own' ? spec.redis.url : null)
  const { kafka = null } = spec
  const broker = kafka === 'own' ? await startKafka(folder, scope) : null
  const brokers = broker?.brokers ?? (kafka !== null && kafka !== 'own' ? kafka.brokers : null)
  const flags = [
    `--database-url=sqlite://${join(folder, 'greendot.db')}`,
    '--log-level=error',
    '--drain-ms=0',
    // No user becomes away by inactivity during a run: all changes are those of the schedule.
    '--away-after-ms=86400000',
    ...(redisUrl === null ? [] : [`--redis-url=${redisUrl}`]),
    ...(brokers === null ? [] : [`--kafka-brokers=${brokers}`]),
    ...spec.settings,
  ]
  const gatewayFlags = [
    `--port=${port}`,
    ...(spec.gateways > 1 ? ['--reuse-port=on'] : []),
    ...(brokers === null ? [] : ['--roles=gateway']),
  ]
  const program = spec.program ?? findGreendot()
  const commandWith = (more: readonly string[]) =>
    pinned(spec.core, [process.execPath, program, 'serve', ...flags, ...more])
  // Secrets by the environment: other users of the machine can read command lines.
  const env = { ...cleanEnv(), GREENDOT_JWT_SECRET: secret, GREENDOT_SERVER_KEYS: key }

  let isStopping = false
  const start = (more: readonly string[]) => {
    const child = Bun.spawn(commandWith(more), { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    void child.exited.then((code) => {
      if (!isStopping) process.stderr.write(`a process of the server ended with code ${code}\n`)
    })
    return child
  }
  const startGateways = () => Array.from({ length: spec.gateways }, () => start(gatewayFlags))
  const apart = (brokers === null ? [] : APART).map(({ role, title }) => ({
    role,
    title,
    child: start([`--port=${freePort()}`, `--roles=${role}`]),
  }))
  scope.add(() => {
    isStopping = true
    return Promise.all(apart.map(({ child }) => endProcess(child, 'SIGKILL'))).then(() => {})
  })
  await within(START_MS_MAX, 'starting the owner', Promise.all(apart.map(({ child }) => ready(child))))
  let children = startGateways()
  async function endAll(): Promise<void> {
    isStopping = true
    await Promise.all(children.map((child) => endProcess(child, 'SIGKILL')))
  }
  scope.add(endAll)
  const allReady = () =>
    within(START_MS_MAX, 'starting the server', Promise.all(children.map((child) => ready(child))))
  await allReady()

  const url = `http://${HOST}:${port}`
  return {
    title: 'Greendot',
    target: {
      wire: 'greendot',
      host: HOST,
      port,
      secret,
      claims: {},
      extra: { [ENCODING]: spec.encoding ?? 'json' },
    },
    helpers: [
      ...apart.map(({ role, title, child }) => ({ name: role, title, pids: [child.pid] })),
      ...(redis === null ? [] : [{ name: 'redis', title: 'Redis', pids: [redis.pid] }]),
      ...(broker === null ? [] : [{ name: 'kafka', title: 'Kafka', pids: [broker.pid] }]),
    ],
    pids: () => children.map(({ pid }) => pid),
    backend: { url, key },
    async metric(name) {
      // One port: which of several gateways answers is up to the kernel.
      if (spec.gateways > 1) return null
      const response = await fetch(`${url}/metrics`, {
        headers: { authorization: `Bearer ${key}` },
        signal: AbortSignal.timeout(METRICS_MS_MAX),
      })
      const value = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(await response.text())?.[1]
      return value === undefined ? null : Number(value)
    },
    async restart(how) {
      if (how === 'kill') {
        await endAll()
        children = startGateways()
      } else {
        isStopping = true
        for (const [index, child] of children.entries()) {
          await endProcess(child, 'SIGTERM', DRAIN_MS_MAX)
          children[index] = start(gatewayFlags)
          await ready(children[index])
        }
      }
      isStopping = false
      if (how === 'kill') await allReady()
    },
    stop: endAll,
  }
}

/** Without the settings of a server that the caller runs. */
function cleanEnv(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GREENDOT_')))
}

async function ready(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>): Promise<void> {
  const complaints = collect(child.stderr)
  const decoder = new TextDecoder()
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += decoder.decode(chunk, { stream: true })
    if (/^greendot ready \S+\n/m.test(printed)) return
  }
  const why = (await complaints).trim().split('\n').at(-1) || `exit code ${await child.exited}`
  throw new BenchProblem(`the server did not start: ${why}`)
}

/** Passes on the stderr of the server and keeps the beginning of it. */
async function collect(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    const printed = decoder.decode(chunk, { stream: true })
    process.stderr.write(printed)
    if (text.length < 4096) text += printed
  }
  return text
}
