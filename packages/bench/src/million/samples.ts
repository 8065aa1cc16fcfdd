// What the run looks like over time, for the charts: users, memory and CPU by part, deliveries and their latency.
import type { Series } from '../figures/result.ts'
import { now } from '../platform/clock.ts'
import { type Latency, mergeLatencies, percentileMs } from './latency.ts'
import type { Counters } from './load-fleet.ts'
import type { PartName, Usage } from './million-figures.ts'

/** To look at all processes takes a tenth of a second, so it is done seldom. */
const SAMPLE_MS = 10_000

interface Sample {
  at: number
  counters: Counters
  usage: Usage
  latency: Latency
}

export interface Sources {
  counters(): Counters
  usage(): Usage
  /** Since it was last asked for. */
  latency(): Promise<Latency>
}

export interface Samples {
  /** Once in ten seconds, or never sooner than that when it is called more often. */
  take(): Promise<void>
  /** All that was sampled since this was last asked for. */
  latency(): Promise<Latency>
  series(): { timeS: number[]; series: Series[] }
}

export function startSamples(sources: Sources): Samples {
  const taken: Sample[] = []
  let unread: Latency[] = []

  async function sample(): Promise<void> {
    const latency = await sources.latency()
    unread.push(latency)
    taken.push({ at: now(), counters: sources.counters(), usage: sources.usage(), latency })
  }
  return {
    async take() {
      if (now() - (taken.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= SAMPLE_MS) await sample()
    },
    async latency() {
      await sample()
      const all = mergeLatencies(unread)
      unread = []
      return all
    },
    series: () => toSeries(taken),
  }
}

const MEMORY_PARTS: readonly PartName[] = ['gateways', 'kernel', 'redis', 'load', 'presence']
const CPU_PARTS: readonly PartName[] = ['gateways', 'redis', 'load', 'presence']

function toSeries(samples: readonly Sample[]): { timeS: number[]; series: Series[] } {
  const steps = samples.slice(1).map((sample, index) => ({ before: samples[index]!, sample }))
  const line = (
    chart: Series['chart'],
    [label, unit]: readonly [string, string],
    measure: (step: (typeof steps)[number]) => number | null,
  ): Series => ({ label, unit, chart, values: steps.map(measure).map(rounded) })
  const perSecond = ({ before, sample }: (typeof steps)[number], difference: number) =>
    (difference / (sample.at - before.at)) * 1000
  return {
    timeS: steps.map(({ sample }) => Math.round((sample.at - samples[0]!.at) / 1000)),
    series: [
      line('connections', ['connected', ''], ({ sample }) => sample.counters.ready),
      line('rates', ['deliveries', 'a second'], (step) =>
        perSecond(step, step.sample.counters.deliveries - step.before.counters.deliveries),
      ),
      line('rates', ['heartbeats', 'a second'], (step) =>
        perSecond(step, step.sample.counters.beats - step.before.counters.beats),
      ),
      line('latency', ['p50', 'ms'], ({ sample }) => percentileMs(sample.latency, 0.5)),
      line('latency', ['p99', 'ms'], ({ sample }) => percentileMs(sample.latency, 0.99)),
      ...CPU_PARTS.map((part) =>
        line('cpu', [part, '%'], (step) =>
          // A process that was killed takes its seconds with it.
          Math.max(
            0,
            100 * perSecond(step, step.sample.usage[part].cpuSeconds - step.before.usage[part].cpuSeconds),
          ),
        ),
      ),
      ...MEMORY_PARTS.map((part) =>
        line('memory', [part, 'MB'], ({ sample }) => sample.usage[part].bytes / 1e6),
      ),
    ],
  }
}

const rounded = (value: number | null): number | null =>
  value === null ? null : Number(value.toPrecision(4))
