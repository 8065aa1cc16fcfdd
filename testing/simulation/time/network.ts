// The network between the parts of the simulation: how long a message takes, and who is cut off from whom. Messages of
// one connection keep their order. What is sent into a cut waits, as TCP lets it, until the cut is mended; whether it
// still matters then is for the connection to say.
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

export interface Network {
  /** How long one message takes now. */
  latencyMs(): number
  isCut(a: string, b: string): boolean
  cut(a: string, b: string): void
  mend(a: string, b: string): void
  /** Runs at once, or when the two are not cut off from each other any more. */
  whenOpen(a: string, b: string, run: () => void): void
  /** Messages take up to this much longer. */
  setSlowMs(slowMs: number): void
}

export function createNetwork(timeline: Timeline, random: Random, usualMs: number): Network {
  /** How many faults cut each pair, and what waits for it. */
  const cuts = new Map<string, { count: number; waiting: (() => void)[] }>()
  const pairOf = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`)
  let slowMs = 0

  return {
    latencyMs: () => 0.05 + random.fraction() * usualMs + (slowMs === 0 ? 0 : random.fraction() * slowMs),
    isCut: (a, b) => cuts.size > 0 && cuts.has(pairOf(a, b)),
    cut(a, b) {
      const cut = cuts.get(pairOf(a, b))
      if (cut === undefined) cuts.set(pairOf(a, b), { count: 1, waiting: [] })
      else cut.count++
    },
    mend(a, b) {
      const pair = pairOf(a, b)
      const cut = cuts.get(pair)
      if (cut === undefined || --cut.count > 0) return
      cuts.delete(pair)
      for (const run of cut.waiting) timeline.at(timeline.now(), run)
    },
    whenOpen(a, b, run) {
      const cut = cuts.size === 0 ? undefined : cuts.get(pairOf(a, b))
      if (cut === undefined) run()
      else cut.waiting.push(run)
    },
    setSlowMs(ms) {
      slowMs = ms
    },
  }
}
