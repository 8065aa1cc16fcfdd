// The list of small measurements, and running some of them one after the other: never two at a time.
import { commits } from './commits.ts'
import { encodings } from './encodings.ts'
import { foreign } from './foreign.ts'
import { heartbeats } from './heartbeats.ts'
import type { Micro, Reading, Scale } from './measure.ts'
import { memory } from './memory.ts'
import { queries } from './queries.ts'
import { redisCosts } from './redis-costs.ts'
import { steps } from './steps.ts'
import { streams } from './streams.ts'
import { traces } from './traces.ts'
import { wireSizes } from './wire-sizes.ts'

export const MICROS: readonly Micro[] = [
  steps,
  heartbeats,
  encodings,
  foreign,
  queries,
  commits,
  memory,
  redisCosts,
  wireSizes,
  streams,
  traces,
]

export interface Ran {
  readings: Reading[]
  /** What could not run here, and why. */
  skipped: { name: string; why: string }[]
}

/** `onStart` gets each measurement before it runs. */
export async function runMicros(
  micros: readonly Micro[],
  scale: Scale,
  onStart: (micro: Micro) => void = () => {},
): Promise<Ran> {
  const ran: Ran = { readings: [], skipped: [] }
  for (const micro of micros) {
    const why = micro.missing()
    if (why !== null) {
      ran.skipped.push({ name: micro.name, why })
      continue
    }
    onStart(micro)
    ran.readings.push(...(await micro.run(scale)))
  }
  return ran
}
