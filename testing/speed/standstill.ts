// How long the event loop of this process stands still. Everything else a server does waits that long.
// The machine may be busy with other programs: what they took is left out where the system tells it.
import { readFileSync } from 'node:fs'

interface Instant {
  at: number
  /** How long the system has kept this thread waiting for a processor; 0 where it does not say. */
  starvedMs: number
  /** How often this thread has waited for something, a disk say; null where the system does not say. */
  waits: number | null
  /** What all threads of this process have computed. */
  computedMs: number
}

function instant(): Instant {
  const { user, system } = process.cpuUsage()
  const computedMs = (user + system) / 1e3
  try {
    const starvedMs = Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6
    const waits = Number(
      /^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1],
    )
    return { at: performance.now(), starvedMs, waits, computedMs }
  } catch {
    return { at: performance.now(), starvedMs: 0, waits: null, computedMs }
  }
}

/** Without what other programs took, and without what the machine took from all of them. */
function stillMsBetween(one: Instant, other: Instant): number {
  const stillMs = other.at - one.at - (other.starvedMs - one.starvedMs)
  // Whoever has waited for nothing can only have computed.
  const hasWaited = one.waits === null || other.waits !== one.waits
  return hasWaited ? stillMs : Math.min(stillMs, other.computedMs - one.computedMs)
}

/** Watches from now on; the function returns the longest time between two turns of the loop until then. */
export function watchLoop(): () => Promise<number> {
  // What was left before is not to be cleared away meanwhile.
  Bun.gc(true)
  let longestMs = 0
  let isOver = false
  let before = instant()
  const watching = new Promise<void>((resolve) => {
    const turn = () => {
      longestMs = Math.max(longestMs, stillMsBetween(before, instant()))
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

/** The longest time between two turns of the event loop while `work` runs. */
export async function longestStandstillMs(work: () => Promise<unknown>): Promise<number> {
  const longestMs = watchLoop()
  await work()
  return longestMs()
}
