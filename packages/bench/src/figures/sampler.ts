// Samples server and load once a second, for the charts and for the progress line. Its own cost falls on the load, never on the server.

import type { Fleet, Totals } from '../load/fleet.ts'
import { now } from '../platform/clock.ts'
import { type Usage, usageOf } from '../platform/proc.ts'
import type { Progress } from '../platform/progress.ts'
import type { Subject } from '../subject/subject.ts'
import type { Series } from './result.ts'

const EVERY_MS = 1_000

interface Sample {
  at: number
  totals: Totals
  server: Usage
  load: Usage
}

export interface Sampler {
  stop(): Promise<{ timeS: number[]; series: Series[] }>
}

export function startSampler(subject: Subject, fleet: Fleet, progress: Progress, label: string): Sampler {
  const samples: Sample[] = []
  let isStopped = false
  let timer: Timer | undefined

  async function look(): Promise<void> {
    const totals = await fleet.report()
    const sample = { at: now(), totals, server: usageOf(subject.pids()), load: usageOf(fleet.pids()) }
    const before = samples.at(-1)
    samples.push(sample)
    if (before !== undefined) progress.show(`${label}: ${sentence(before, sample)}`)
  }

  async function loop(): Promise<void> {
    await look()
    if (isStopped) return
    timer = setTimeout(() => {
      running = loop()
    }, EVERY_MS)
  }
  let running = loop()

  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
      return toSeries(samples)
    },
  }
}

function sentence(before: Sample, { at, totals, server, load }: Sample): string {
  const seconds = (at - before.at) / 1000
  const { counts, recent } = totals
  const updates = (counts.updates - before.totals.counts.updates) / seconds
  const share = (one: Usage, other: Usage) =>
    `${Math.max(0, ((one.cpuSeconds - other.cpuSeconds) / seconds) * 100).toFixed(0)} %`
  return [
    `${counts.ready} connected`,
    `${updates.toFixed(0)} deliveries a second`,
    ...(recent.count() > 0 ? [`p99 ${recent.at(99).toFixed(1)} ms`] : []),
    `server ${share(server, before.server)} of a core, load ${share(load, before.load)}`,
    ...(counts.errors > 0 ? [`${counts.errors} errors`] : []),
  ].join(', ')
}

function toSeries(samples: readonly Sample[]): { timeS: number[]; series: Series[] } {
  const steps = samples.slice(1).map((sample, index) => ({ before: samples[index]!, sample }))
  const perSecond = (pick: (sample: Sample) => number) =>
    // A server that was started again counts from 0.
    steps.map(({ before, sample }) =>
      Math.max(0, ((pick(sample) - pick(before)) / (sample.at - before.at)) * 1000),
    )
  const series = (
    chart: Series['chart'],
    label: string,
    unit: string,
    values: (number | null)[],
  ): Series => ({
    chart,
    label,
    unit,
    values: values.map((value) => (value === null ? null : Number(value.toPrecision(6)))),
  })
  const late = (percentile: number) =>
    steps.map(({ sample: { totals } }) => (totals.recent.count() === 0 ? null : totals.recent.at(percentile)))
  return {
    timeS: steps.map(({ sample }) => Number(((sample.at - samples[0]!.at) / 1000).toFixed(2))),
    series: [
      series(
        'rates',
        'deliveries',
        'a second',
        perSecond(({ totals }) => totals.counts.updates),
      ),
      series(
        'rates',
        'frames',
        'a second',
        perSecond(({ totals }) => totals.counts.frames),
      ),
      series('latency', 'p50', 'ms', late(50)),
      series('latency', 'p99', 'ms', late(99)),
      series(
        'cpu',
        'server',
        '% of a core',
        perSecond(({ server }) => server.cpuSeconds * 100),
      ),
      series(
        'cpu',
        'load',
        '% of a core',
        perSecond(({ load }) => load.cpuSeconds * 100),
      ),
      series(
        'memory',
        'server',
        'MB',
        steps.map(({ sample }) => sample.server.residentBytes / 1e6),
      ),
      series(
        'connections',
        'connected',
        '',
        steps.map(({ sample }) => sample.totals.counts.ready),
      ),
    ],
  }
}
