// How a small measurement is taken: ours and the yardstick in turns, several rounds, and the median of
// the rounds. A ratio is made within a round, so that other work of the machine slows both sides.
import type { ConstantName } from '../capacity/constant-names.ts'

/** Something done again and again: how many operations a second, by CPU time or by the wall. */
export type Side = () => Promise<number>

export interface Reading {
  name: string
  /** What is counted, such as "beats per CPU-second". */
  unit: string
  ours: number
  /** The yardstick of the same run, and ours as a share of it; null where there is none. */
  bare: number | null
  ratio: number | null
  /** What the capacity model calls it, in the unit that it has there. */
  constant?: { name: ConstantName; value: number }
}

/** A figure that is itself a constant of the capacity model. */
export function constantReading(name: string, unit: string, ours: number, constant: ConstantName): Reading {
  return { name, unit, ours, bare: null, ratio: null, constant: { name: constant, value: ours } }
}

export interface Micro {
  name: string
  about: string
  /** Why it cannot run on this machine; null when it can. */
  missing(): string | null
  run(scale: Scale): Promise<Reading[]>
}

/** How long to measure: fewer and shorter rounds are less certain. */
export interface Scale {
  rounds: number
  roundMs: number
}

export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('there is no median of nothing')
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Both sides in turns, after an uncounted round each, in which code is compiled and memory allocated. */
export async function sideBySide(
  { name, unit, rounds }: { name: string; unit: string; rounds: number },
  ours: Side,
  bare: Side,
): Promise<Reading> {
  await ours()
  await bare()
  const taken: { ours: number; bare: number }[] = []
  for (let round = 0; round < rounds; round++) {
    // The second side finds the caches of the first, so the order alternates.
    if (round % 2 === 0) taken.push({ ours: await ours(), bare: await bare() })
    else {
      const bareRate = await bare()
      taken.push({ ours: await ours(), bare: bareRate })
    }
  }
  return {
    name,
    unit,
    ours: median(taken.map((one) => one.ours)),
    bare: median(taken.map((one) => one.bare)),
    ratio: median(taken.map((one) => one.ours / one.bare)),
  }
}

/** Operations per CPU-second of this process. `work` does a slice of them and says how many. */
export function perCpuSecond(roundMs: number, work: () => number | Promise<number>): Side {
  return async () => {
    const startedAt = performance.now()
    const before = process.cpuUsage()
    let done = 0
    while (performance.now() - startedAt < roundMs) done += await work()
    const { user, system } = process.cpuUsage(before)
    return done / ((user + system) / 1e6)
  }
}
