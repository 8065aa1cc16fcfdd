// The longest block of the event loop of this process. Everything else that a server does waits that long.
// Time that other programs took from this thread is left out where the kernel tells it.
import { readFileSync } from 'node:fs'

interface Instant {
  at: number
  /** How long this thread waited for a processor so far; 0 where the kernel does not tell. */
  starvedMs: number
  /** How often this thread gave up the processor by itself; null where the kernel does not tell. */
  waits: number | null
  /** CPU time of all threads of this process. */
  cpuMs: number
}

function instant(): Instant {
  const { user, system } = process.cpuUsage()
  const cpuMs = (user + system) / 1e3
  try {
    const waits = /^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]
    return { at: performance.now(), starvedMs: starvedMs(), waits: Number(waits), cpuMs }
  } catch {
    return { at: performance.now(), starvedMs: 0, waits: null, cpuMs }
  }
}

/** How long this thread waited for a processor so far; 0 where the kernel does not tell. */
export function starvedMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

function blockMsBetween(one: Instant, other: Instant): number {
  const blockMs = other.at - one.at - (other.starvedMs - one.starvedMs)
  // A thread that waited for nothing has only computed, so its block is at most its CPU time.
  const hasWaited = one.waits === null || other.waits !== one.waits
  return hasWaited ? blockMs : Math.min(blockMs, other.cpuMs - one.cpuMs)
}

/** Watches from now on; the function stops it and resolves with the longest time between two turns. */
export function watchLoop(): () => Promise<number> {
  // Garbage from before is not collected meanwhile.
  Bun.gc(true)
  let longestMs = 0
  let isOver = false
  let before = instant()
  const watching = new Promise<void>((resolve) => {
    const turn = () => {
      longestMs = Math.max(longestMs, blockMsBetween(before, instant()))
      before = instant()
      if (isOver) resolve()
      else setImmediate(turn)
    }
    setImmediate(turn)
  })
  return async () => {
    isOver = true
    await watching
    return longestMs
  }
}

export async function longestBlockMs(work: () => Promise<unknown>): Promise<number> {
  const end = watchLoop()
  await work()
  return end()
}
