// How busy other programs kept the machine during a run: figures of a busy machine say little. Linux only.
import { readFileSync } from 'node:fs'
import { now } from './clock.ts'

const TICK_MS = 10

/** Returns how to ask for the mean, in percent of a core. To be asked when all own children have ended. */
export function watchOthers(): () => number | null {
  const startedAt = now()
  const before = othersTicks()
  return () => {
    const after = othersTicks()
    if (before === null || after === null) return null
    return Math.max(0, (((after - before) * TICK_MS) / (now() - startedAt)) * 100)
  }
}

function othersTicks(): number | null {
  try {
    // Interrupts are part of the time of the program that they interrupt, so they count on both sides.
    const [user, nice, system, , , irq, softirq] = numbersOf(
      readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!,
    )
    // The name of the program may have spaces and brackets, so fields are counted from after it: own time, and that of
    // children that have ended.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const own = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return user! + nice! + system! + irq! + softirq! - own
  } catch {
    return null
  }
}

const numbersOf = (line: string): number[] => line.split(/ +/).slice(1).map(Number)
