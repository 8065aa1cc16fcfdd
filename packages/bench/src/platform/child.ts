// Child processes of the benchmark, which are this program again. An order to a child resolves with its
// answer, or rejects when the child ends first.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { RUNTIME_FLAGS } from '../../../server/src/platform/runtime-flags.ts'
import { within } from './clock.ts'
import { BenchProblem } from './problem.ts'

const PROGRAM = join(import.meta.dir, '../cli.ts')

/** With a core, the process stays there: neither server nor load steals from the other. */
export function pinned(core: number | null, command: readonly string[]): string[] {
  const canPin = core !== null && core < availableParallelism() && Bun.which('taskset') !== null
  return canPin ? ['taskset', '-c', String(core), ...command] : [...command]
}

const ASK_MS_MAX = 30_000
const STOP_MS_MAX = 5_000

export interface Child {
  pid: number
  /** Sends an order and resolves with its answer. */
  ask<Answer>(order: object, limitMs?: number): Promise<Answer>
  stop(): Promise<void>
}

/** A child of this program that takes orders over the channel of the runtime. */
export function startWorker(role: string, core: number | null): Child {
  const waiting = new Map<number, { resolve(answer: never): void; reject(error: Error): void }>()
  let lastId = 0
  const name = `the ${role} process`
  const child = Bun.spawn(pinned(core, [process.execPath, PROGRAM, '--worker', role]), {
    stdio: ['ignore', 'ignore', 'inherit'],
    // A child without them would replace itself, and the channel would be lost.
    env: { ...RUNTIME_FLAGS, ...process.env },
    serialization: 'json',
    ipc({ id, problem, answer }: { id: number; problem?: string; answer?: never }) {
      const asker = waiting.get(id)
      waiting.delete(id)
      if (problem !== undefined) asker?.reject(new BenchProblem(`${name}: ${problem}`))
      else asker?.resolve(answer as never)
    },
  })
  void child.exited.then((code) => {
    for (const { reject } of waiting.values()) reject(new BenchProblem(`${name} ended with code ${code}`))
    waiting.clear()
  })
  return {
    pid: child.pid,
    ask(order, limitMs = ASK_MS_MAX) {
      const answer = new Promise<never>((resolve, reject) => {
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        child.send({ id, order })
      })
      return within(limitMs, `${name}: "${'do' in order ? order.do : 'order'}"`, answer)
    },
    stop: () => endProcess(child, 'SIGKILL'),
  }
}

export async function endProcess(
  child: Pick<Bun.Subprocess, 'kill' | 'exited' | 'pid'>,
  signal: NodeJS.Signals,
  limitMs = STOP_MS_MAX,
): Promise<void> {
  child.kill(signal)
  try {
    await within(limitMs, `stopping process ${child.pid}`, child.exited)
  } catch {
    child.kill('SIGKILL')
    await child.exited
  }
}
