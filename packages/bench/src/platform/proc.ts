// What the kernel counts for processes: CPU time, memory, system calls. Linux only; elsewhere the
// figures are left out.
import { readFileSync } from 'node:fs'

const CLOCK_TICKS_PER_SECOND = 100

export interface Usage {
  cpuSeconds: number
  residentBytes: number
}

/** Summed up; a process that has ended counts nothing. */
export function usageOf(pids: readonly number[]): Usage {
  const total = { cpuSeconds: 0, residentBytes: 0 }
  for (const pid of pids) {
    total.cpuSeconds += cpuSeconds(pid)
    total.residentBytes += residentBytes(pid)
  }
  return total
}

export function cpuSeconds(pid: number): number {
  // The name of the program may have spaces and brackets, so fields are counted from after it.
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / CLOCK_TICKS_PER_SECOND
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024
}

/** The share of a process of the memory that it and others use: a page of n processes counts an nth for each. */
export const proportionalBytes = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** How many files this process and its children may open; Infinity where the kernel does not tell. */
export function filesMax(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(read('/proc/self/limits'))?.[1] ?? Number.POSITIVE_INFINITY)
}

export type SystemCalls = { state: 'counted'; calls: number } | { state: 'unknown'; why: string }

/**
 * Counts the system calls of processes for a while with `perf stat`. Counters of /proc do not see send
 * and recv, and strace would slow the processes down.
 */
export async function countSystemCalls(pids: readonly number[], seconds: number): Promise<SystemCalls> {
  if (Bun.which('perf') === null) return { state: 'unknown', why: 'perf is not installed' }
  const command = ['perf', 'stat', '-x', ',', '-e', 'raw_syscalls:sys_enter', '-p', pids.join(',')]
  const child = Bun.spawn([...command, '--', 'sleep', String(seconds)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: (seconds + 10) * 1000,
  })
  const printed = await new Response(child.stderr).text()
  const calls = Number(/^(\d+),.*raw_syscalls:sys_enter/m.exec(printed)?.[1])
  if (Number.isNaN(calls)) return { state: 'unknown', why: 'perf may not count system calls here' }
  return { state: 'counted', calls }
}
