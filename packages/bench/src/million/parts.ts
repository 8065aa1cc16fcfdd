// What each part takes of the machine: processes by their proportional share of memory (pages that several processes
// share count once), and the kernel by what all its memory grew since before the run.
import { readFileSync } from 'node:fs'
import { cpuSeconds, proportionalBytes } from '../platform/proc.ts'

export interface PartUsage {
  bytes: number
  cpuSeconds: number
}

export function partOf(pids: readonly number[]): PartUsage {
  let [bytes, cpu] = [0, 0]
  for (const pid of pids) {
    bytes += proportionalBytes(pid)
    cpu += cpuSeconds(pid)
  }
  return { bytes, cpuSeconds: cpu }
}

/** Memory that is neither free, nor a cache that could be given back, nor a page of a process. */
export function kernelBytes(): number {
  const about = read('/proc/meminfo')
  const of = (name: string) => kilobytes(about, name) * 1024
  return of('MemTotal') - of('MemFree') - of('Buffers') - of('Cached') - of('AnonPages') - of('SReclaimable')
}

export const availableBytes = (): number => kilobytes(read('/proc/meminfo'), 'MemAvailable') * 1024

const kilobytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
