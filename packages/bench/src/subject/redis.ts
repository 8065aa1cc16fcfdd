// A Redis server for a run over several gateways: on a free port of the loopback, keeping nothing on
// disk, ended with the run.
import { endProcess } from '../platform/child.ts'
import { within } from '../platform/clock.ts'
import { freePort } from '../platform/ports.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Scope } from '../platform/scope.ts'

const START_MS_MAX = 10_000

export interface RedisUnderTest {
  url: string
  pid: number
  /** Ends it and starts it again on the same port, empty. */
  restart(): Promise<RedisUnderTest>
}

export async function startRedis(folder: string, scope: Scope): Promise<RedisUnderTest> {
  const program = Bun.which('redis-server')
  if (program === null)
    throw new BenchProblem('several gateways need Redis: install redis-server, or give one with --redis-url')
  return startOn(freePort(), { program, folder, scope })
}

interface RedisParts {
  program: string
  folder: string
  scope: Scope
}

async function startOn(port: number, parts: RedisParts): Promise<RedisUnderTest> {
  const { program, folder, scope } = parts
  const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = Bun.spawn([program, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = () => endProcess(child, 'SIGKILL')
  scope.add(stop)
  await within(START_MS_MAX, 'starting redis-server', ready(child.stdout))
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid,
    async restart() {
      await stop()
      return startOn(port, parts)
    },
  }
}

async function ready(stdout: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stdout.getReader()
  const decoder = new TextDecoder()
  let printed = ''
  while (!printed.includes('Ready to accept connections')) {
    const { value, done } = await reader.read()
    if (done) throw new BenchProblem(`redis-server did not start: ${printed.trim().split('\n').at(-1)}`)
    printed += decoder.decode(value, { stream: true })
  }
  // Later output is discarded, so that the pipe never fills.
  void (async () => {
    while (!(await reader.read()).done);
  })()
}
