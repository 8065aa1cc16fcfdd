// Users change at a fixed total rate and all their watchers must receive it: deliveries a second, latency,
// cost, and whether every watcher ends with the newest state. With --ramp it looks for
// the highest rate that is sustained; without, a bare loop of `send` then carries the same frames.

import { curveOf, type Latencies } from '../figures/histogram.ts'
import type { Figure, Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import type { Fleet } from '../load/fleet.ts'
import { now, sleepUntil } from '../platform/clock.ts'
import { countSystemCalls, usageOf } from '../platform/proc.ts'
import type { Subject } from '../subject/subject.ts'
import { bareReplay } from './bare-replay.ts'
import { findSustained } from './ramp.ts'
import {
  type Bench,
  connectAll,
  faults,
  figure,
  fleetSpec,
  helperConstants,
  helperFigures,
  lookAtHelpers,
  type Scenario,
} from './scenario.ts'

const RATE = 1_000
const LEAD_MS = 500
const WARM_SECONDS_MAX = 2
const TAIL_SECONDS_MAX = 2
const RECORDED_FRAMES = 20_000
/** After the last change, everything must have arrived in this time. */
const LAST_MS_MAX = 5_000

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress } = bench
  const { fleet } = await connectAll(subject, bench, fleetSpec(options))
  const sampler = startSampler(subject, fleet, progress, 'churn')
  const steady = await churnAt(subject, fleet, options.rate ?? RATE, options.seconds)
  const ramp = options.ramp ? await findSustained(fleet, bench, steady.rate) : []
  const { timeS, series } = await sampler.stop()
  const problems = await faults(fleet)
  if (steady.behind > 0)
    problems.push(`${steady.behind} of ${steady.pairs} watched contacts do not have the newest state`)
  const sizes = await fleet.recorded()
  const bare = await bareReplay(subject, bench, { sizes, framesPerSecond: steady.framesPerSecond })
  const figures = [...steady.figures, ...ramp]
  if (bare !== null) {
    const ratio = (steady.framesPerCpuSecond / bare.framesPerCpuSecond) * 100
    figures.push(
      figure(
        'bare_frames_per_cpu_second',
        'bare loop of send, frames per CPU-second',
        bare.framesPerCpuSecond,
      ),
      figure('churn_of_bare_percent', 'frames per CPU-second, of the bare loop', ratio, '%'),
    )
  }
  return {
    figures,
    ...(steady.constants && { constants: steady.constants }),
    curves: [
      { label: `change to receipt`, count: steady.latencies.count(), points: curveOf(steady.latencies) },
    ],
    timeS,
    series,
    problems,
    notes: [
      'Latency is from the instant a change was due, whenever it was made, to its receipt by a watcher; a ' +
        'change that a newer one replaced counts until the newer one came.',
      `Latency and completeness are those of ${steady.exactConnections} of ${options.users} connections; the others are counted.`,
      ...(bare === null
        ? []
        : ['The bare loop sends frames of the recorded sizes at the same rate to as many readers.']),
      ...steady.notes,
    ],
  }
}

interface Steady {
  rate: number
  figures: Figure[]
  latencies: Latencies
  framesPerSecond: number
  framesPerCpuSecond: number
  behind: number
  pairs: number
  exactConnections: number
  constants: Outcome['constants']
  notes: string[]
}

/** One run at one rate: a warm-up, what is measured, and a tail in which system calls are counted. */
export async function churnAt(
  subject: Subject,
  fleet: Fleet,
  rate: number,
  seconds: number,
): Promise<Steady> {
  const warmSeconds = Math.min(seconds, WARM_SECONDS_MAX)
  const tailSeconds = Math.min(seconds, TAIL_SECONDS_MAX)
  const startAt = now() + LEAD_MS
  const measuredAt = startAt + warmSeconds * 1000
  const tailAt = measuredAt + seconds * 1000
  const first = (await fleet.inspect()).phases.length
  await fleet.phase({ startAt, perSecond: rate, changes: warmSeconds * rate })
  await fleet.phase({ startAt: measuredAt, perSecond: rate, changes: seconds * rate })
  await fleet.phase({ startAt: tailAt, perSecond: rate, changes: tailSeconds * rate })

  await sleepUntil(measuredAt)
  const before = await look(subject, fleet)
  await fleet.record(RECORDED_FRAMES)
  await sleepUntil(tailAt)
  const after = await look(subject, fleet)
  const system = await countSystemCalls(subject.pids(), tailSeconds / 2)
  await sleepUntil(tailAt + tailSeconds * 1000)
  await fleet.quiet(LAST_MS_MAX)
  const inspected = await fleet.inspect()

  const wall = (after.at - before.at) / 1000
  const cpu = after.usage.cpuSeconds - before.usage.cpuSeconds
  const delta = (name: 'updates' | 'frames' | 'ownFrames' | 'bytesIn' | 'changesMade') =>
    after.counts[name] - before.counts[name]
  const deliveriesPerSecond = delta('updates') / wall
  const latencies = inspected.phases[first + 1]!
  // A change is also pushed to the user's own connection: the bare loop carries those frames as well.
  const written = delta('frames') + delta('ownFrames')
  const figures = [
    figure('changes_per_second', 'changes a second', delta('changesMade') / wall, 'a second'),
    figure('deliveries_per_second', 'deliveries a second', deliveriesPerSecond, 'a second'),
    figure('churn_p50_ms', 'p50 from change to receipt', latencies.at(50), 'ms'),
    figure('churn_p99_ms', 'p99', latencies.at(99), 'ms'),
    figure('churn_p999_ms', 'p99.9', latencies.at(99.9), 'ms'),
    figure('churn_max_ms', 'longest', latencies.max(), 'ms'),
    figure('updates_per_frame', 'updates per frame', delta('updates') / Math.max(1, delta('frames'))),
    figure(
      'bytes_per_delivery',
      'bytes per delivery',
      delta('bytesIn') / Math.max(1, delta('updates')),
      'bytes',
    ),
    figure('server_cpu_percent', 'server CPU', (cpu / wall) * 100, '% of a core'),
    figure(
      'cpu_s_per_100k_deliveries',
      'server CPU-seconds per 100,000 deliveries',
      (cpu / Math.max(1, delta('updates'))) * 100_000,
      's',
    ),
    figure(
      'load_late_p99_ms',
      'p99 of how late the load made changes',
      inspected.lateness[first + 1]!.at(99),
      'ms',
    ),
  ]
  figures.push(...helperFigures(before.helpers, after.helpers, wall))
  if (system.state === 'counted') {
    const perDelivery = system.calls / ((tailSeconds / 2) * Math.max(1, deliveriesPerSecond))
    figures.push(figure('system_calls_per_delivery', 'system calls per delivery', perDelivery))
  }
  return {
    rate,
    figures,
    latencies,
    framesPerSecond: written / wall,
    framesPerCpuSecond: written / Math.max(0.01, cpu),
    behind: inspected.behind,
    pairs: inspected.pairs,
    exactConnections: inspected.exactConnections,
    constants: helperConstants(before.helpers, after.helpers, delta('changesMade')),
    notes: [
      system.state === 'counted'
        ? 'System calls are those of the server process, counted by perf in a stretch of their own after the measured one.'
        : `System calls were not counted: ${system.why}.`,
    ],
  }
}

/** Everything counted and used so far, to be compared with a later look. */
export async function look(subject: Subject, fleet: Fleet) {
  const { counts } = await fleet.report()
  return { at: now(), counts, usage: usageOf(subject.pids()), helpers: lookAtHelpers(subject) }
}

export const churn: Scenario = { run }
