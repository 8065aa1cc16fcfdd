// The load of very many users: a program in C, compiled when the run starts, in as many processes as the limit of open
// files demands. Orders go to each as a line; each tells its counters once a second.
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProcess } from '../platform/child.ts'
import { now } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Scope } from '../platform/scope.ts'
import type { TargetSpec } from '../subject/subject.ts'
import { firstAddress } from '../wires/addresses.ts'
import { mintToken } from '../wires/tokens.ts'
import { type Latency, mergeLatencies } from './latency.ts'

const SOURCES = join(import.meta.dir, 'load')
const SOURCE_NAMES = ['main', 'connection', 'frames', 'graph', 'latency']
/** Addresses that a process may use: 2,000 connections each, with reconnects. */
const ADDRESSES_PER_PROCESS = 24
const SENT_TIME_BYTES = 8
/** Few of a process at once, so that most clients wait while the servers are busy. */
const OPENING_MAX = 3
/** Clients whose gateway died come back to the next one without such order. */
const COMING_BACK = { perSecond: 1_000, atOnce: 30 }

export interface Counters {
  opened: number
  ready: number
  closed: number
  failed: number
  beats: number
  changes: number
  changes_skipped: number
  frames: number
  deliveries: number
  /** Deliveries of a change that the watcher had not heard of, of those made since `countFromNow`. */
  arrived: number
  /** The watchers of all users who changed. */
  expected: number
  offline: number
  bytes_in: number
  bytes_out: number
}

export interface LoadFleet {
  pids: readonly number[]
  /** The sum over all processes, a second old at most. */
  counters(): Counters
  /** All together so many new connections a second. */
  connect(perSecond: number): void
  /** From now on connections that end are opened again soon, by each process at its own pace. */
  comeBack(): void
  beat(intervalMs: number): void
  change(perSecond: number): void
  /** Changes that were made before are not counted any more where they arrive. */
  countFromNow(): void
  /** Since it was last asked for. */
  latency(): Promise<Latency>
}

export interface FleetOptions {
  folder: string
  target: TargetSpec
  /** Of the gateways: a process of the load uses one of them. */
  ports: readonly number[]
  users: number
  usersPerProcess: number
  contacts: number
  graph: 'ring' | 'random'
}

async function compileLoad(folder: string): Promise<string> {
  const compiler = ['cc', 'gcc', 'clang'].find((name) => Bun.which(name) !== null)
  if (compiler === undefined) throw new BenchProblem('this load needs a C compiler: install gcc or clang')
  const program = join(folder, 'load')
  const sources = SOURCE_NAMES.map((name) => join(SOURCES, `${name}.c`))
  const { exitCode, stderr } = Bun.spawnSync([compiler, '-O2', '-o', program, ...sources])
  if (exitCode !== 0) throw new BenchProblem(`the load does not compile: ${stderr.toString().split('\n')[0]}`)
  return program
}

export async function startLoadFleet(options: FleetOptions, scope: Scope): Promise<LoadFleet> {
  const { folder, target, ports, users, usersPerProcess, contacts, graph } = options
  const program = await compileLoad(folder)
  const sentTimes = join(folder, 'sent-times')
  writeFileSync(sentTimes, '')
  truncateSync(sentTimes, users * SENT_TIME_BYTES)
  const processes = Math.ceil(users / usersPerProcess)
  const base = firstAddress(now(), 0)
  const members = Array.from({ length: processes }, (_, number) => {
    const first = number * usersPerProcess
    const count = Math.min(usersPerProcess, users - first)
    const tokens = join(folder, `tokens-${number}`)
    writeTokens(tokens, target, { first, count })
    const words = [target.host, ports[number % ports.length], first, count, users, contacts, graph]
    const address = base + number * ADDRESSES_PER_PROCESS
    return startMember([program, ...words, address, tokens, sentTimes].map(String), { scope, count })
  })
  const share = (perSecond: number, count: number) => (perSecond * count) / users
  return {
    pids: members.map(({ pid }) => pid),
    counters: () => sum(members.map(({ counters }) => counters())),
    connect: (perSecond) =>
      members.forEach(({ order, count }) => void order(`connect ${share(perSecond, count)} ${OPENING_MAX}`)),
    comeBack: () =>
      members.forEach(({ order }) => void order(`connect ${COMING_BACK.perSecond} ${COMING_BACK.atOnce}`)),
    beat: (intervalMs) => members.forEach(({ order }) => void order(`beat ${intervalMs}`)),
    change: (perSecond) =>
      members.forEach(({ order, count }) => void order(`change ${share(perSecond, count)}`)),
    countFromNow: () => members.forEach(({ order }) => void order('count')),
    latency: async () => mergeLatencies(await Promise.all(members.map(({ latency }) => latency()))),
  }
}

/** One a line, all equally long: the program finds them by their number. */
function writeTokens(
  path: string,
  target: TargetSpec,
  { first, count }: { first: number; count: number },
): void {
  mkdirSync(join(path, '..'), { recursive: true })
  const at = now()
  const tokens = Array.from({ length: count }, (_, user) => mintToken(target, first + user, at))
  const length = tokens.reduce((longest, token) => Math.max(longest, token.length), 0)
  writeFileSync(path, tokens.map((token) => `${token.padEnd(length)}\n`).join(''))
}

const NOTHING: Counters = {
  opened: 0,
  ready: 0,
  closed: 0,
  failed: 0,
  beats: 0,
  changes: 0,
  changes_skipped: 0,
  frames: 0,
  deliveries: 0,
  arrived: 0,
  expected: 0,
  offline: 0,
  bytes_in: 0,
  bytes_out: 0,
}

function sum(all: readonly Counters[]): Counters {
  const total = { ...NOTHING }
  for (const name of Object.keys(total) as (keyof Counters)[])
    for (const counters of all) total[name] += counters[name]
  return total
}

function startMember(command: string[], { scope, count }: { scope: Scope; count: number }) {
  const child = Bun.spawn(command, { stdio: ['pipe', 'pipe', 'inherit'] })
  scope.add(() => endProcess(child, 'SIGKILL'))
  let last = NOTHING
  let asked: PromiseWithResolvers<Latency> | null = null
  void readLines(child.stdout, (line) => {
    const said: unknown = JSON.parse(line)
    if (isCounters(said)) last = said
    else {
      asked?.resolve(said as Latency)
      asked = null
    }
  })
  const order = (line: string): void => {
    child.stdin.write(`${line}\n`)
    child.stdin.flush()
  }
  return {
    pid: child.pid,
    count,
    counters: () => last,
    order,
    latency(): Promise<Latency> {
      asked = Promise.withResolvers<Latency>()
      order('latency')
      return asked.promise
    },
  }
}

const isCounters = (said: unknown): said is Counters =>
  typeof said === 'object' && said !== null && 'opened' in said

async function readLines(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  }
}
