// The processes that descend from one, as the kernel lists them: some servers consist of several, and
// all of them count, when it is measured what a server takes and when it is stopped.
import { readdirSync, readFileSync } from 'node:fs'
import { sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'

const POLL_MS = 20

/** The children of a process and theirs, as they are now. */
export function descendants(pid: number): number[] {
  const childrenOf = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const child = Number(name)
    const parent = Number.isInteger(child) ? parentOf(child) : null
    if (parent === null) continue
    const siblings = childrenOf.get(parent)
    if (siblings === undefined) childrenOf.set(parent, [child])
    else siblings.push(child)
  }
  const found: number[] = []
  const waiting = [pid]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const children = childrenOf.get(next) ?? []
    found.push(...children)
    waiting.push(...children)
  }
  return found
}

/** Asks all of them to end, after a while insists. Resolves when none is left. */
export async function endAll(pids: readonly number[], patienceMs: number): Promise<void> {
  signalAll(pids, 'SIGTERM')
  if (await haveEnded(pids, patienceMs)) return
  signalAll(pids, 'SIGKILL')
  if (!(await haveEnded(pids, patienceMs)))
    throw new BenchProblem(`processes that cannot be ended: ${pids.join(', ')}`)
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Children of children cannot be awaited, so they are looked at. */
async function haveEnded(pids: readonly number[], msMax: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs <= msMax; waitedMs += POLL_MS) {
    if (!pids.some(isRunning)) return true
    await sleep(POLL_MS)
  }
  return false
}

/** False for a zombie, which has ended. */
export const isRunning = (pid: number): boolean => parentOf(pid) !== null

/** Null if there is no such process, or it is a zombie. */
function parentOf(pid: number): number | null {
  try {
    // The name in parentheses may hold anything, so reading starts after the last of them.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? null : Number(parent)
  } catch {
    return null
  }
}
