// Connects at a fixed rate, timed from the instant each was due until the welcome and the states of all
// contacts are there. Some users connect before, uncounted: a fresh process compiles while it works. Then
// the rest connects as fast as possible, or with --ramp at growing rates until one is not sustained.

import { curveOf } from '../figures/histogram.ts'
import type { Figure, Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { type Connected, type Fleet, startFleet } from '../load/fleet.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import { usageOf } from '../platform/proc.ts'
import type { Subject } from '../subject/subject.ts'
import { BEAT_EVERY_MS, type Bench, faults, figure, fleetSpec, type Scenario } from './scenario.ts'

const RATE = 1_000
const WARM_MAX = 5_000
const WARM_SHARE = 1 / 3
const RAMP_GROWTH = 1.25
const RAMP_STEP_SECONDS = 1
const PARALLEL = 200
const LEAD_MS = 300
const SLACK_MS = 10_000
const CONNECT_MS_MAX = 600_000

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress, scope } = bench
  const { users, contacts, seconds } = options
  const rate = options.rate ?? RATE
  const spec = fleetSpec(options)
  progress.show(`preparing ${users} users, load processes: ${spec.loads}`)
  const fleet = await startFleet(subject, spec, scope)
  await fleet.beat(BEAT_EVERY_MS)
  const sampler = startSampler(subject, fleet, progress, 'connect')

  const warm = Math.min(WARM_MAX, Math.ceil(users * WARM_SHARE))
  const warmed = await arriveInParallel(fleet, 0, warm)
  if (warmed.failed > 0)
    throw new BenchProblem(`${warmed.failed} of the first ${warm} users could not connect`)
  const timed = Math.min(Math.ceil((users - warm) / 2), rate * seconds)
  const steady = await measured(subject, () => arriveAt(fleet, rate, warm, warm + timed))
  const more = options.ramp
    ? await climb(fleet, rate, warm + timed, bench)
    : await connectRest(subject, fleet, warm + timed, users)
  const { timeS, series } = await sampler.stop()
  const { latencies, failed } = steady.result
  const problems = await faults(fleet)
  if (failed > 0) problems.push(`${failed} of ${timed} arrivals failed`)
  const cpuMs = (steady.cpuSeconds / timed) * 1000

  return {
    figures: [
      figure('connect_rate', 'arrivals a second', rate, 'a second'),
      figure('connect_arrivals', 'arrivals that were timed', latencies.count()),
      figure('connect_p50_ms', 'p50', latencies.at(50), 'ms'),
      figure('connect_p99_ms', 'p99', latencies.at(99), 'ms'),
      figure('connect_p999_ms', 'p99.9', latencies.at(99.9), 'ms'),
      figure('connect_max_ms', 'longest', latencies.max(), 'ms'),
      figure('cpu_ms_per_connect', 'server CPU per connect, at that rate', cpuMs, 'ms'),
      ...more,
    ],
    constants: {
      connect_cpu_us: { value: cpuMs * 1000, unit: 'µs per connect, with idle_contacts' },
    },
    curves: [{ label: `connect at ${rate} a second`, count: latencies.count(), points: curveOf(latencies) }],
    timeS,
    series,
    problems,
    notes: [
      `From the instant an arrival was due to its welcome and the states of ${contacts} contacts: TCP, ` +
        'handshake, token check, welcome, watch, snapshot.',
      `The first ${warm} users came before, uncounted.`,
    ],
  }
}

async function measured<Result>(subject: Subject, act: () => Promise<Result>) {
  const cpuBefore = usageOf(subject.pids()).cpuSeconds
  const startedAt = now()
  const result = await act()
  return { result, startedAt, cpuSeconds: usageOf(subject.pids()).cpuSeconds - cpuBefore }
}

function arriveAt(fleet: Fleet, perSecond: number, from: number, to: number): Promise<Connected> {
  const startAt = now() + LEAD_MS
  const limitMs = LEAD_MS + ((to - from) / perSecond) * 1000 + SLACK_MS
  return fleet.connect({ how: 'rate', startAt, perSecond, from, to }, limitMs)
}

function arriveInParallel(fleet: Fleet, from: number, to: number): Promise<Connected> {
  const parallel = Math.max(1, Math.floor(PARALLEL / fleet.spec.loads))
  return fleet.connect({ how: 'parallel', parallel, from, to }, CONNECT_MS_MAX)
}

async function connectRest(subject: Subject, fleet: Fleet, from: number, to: number): Promise<Figure[]> {
  const { result, startedAt, cpuSeconds } = await measured(subject, () => arriveInParallel(fleet, from, to))
  const arrived = to - from - result.failed
  const label = `as fast as possible, ${PARALLEL} at a time`
  return [
    figure('connects_per_second', label, arrived / ((result.lastReadyAt - startedAt) / 1000), 'a second'),
    figure(
      'connects_per_cpu_second',
      'the same per CPU-second of the server',
      arrived / Math.max(0.01, cpuSeconds),
    ),
  ]
}

/** Steps of growing rates, each with new users, until p99 is over the bound or no users are left. */
async function climb(fleet: Fleet, firstRate: number, first: number, bench: Bench): Promise<Figure[]> {
  const { users, boundMs } = bench.options
  let from = first
  let sustained = 0
  let isAtEnd = false
  for (let rate = firstRate; ; rate = Math.ceil(rate * RAMP_GROWTH)) {
    const to = from + rate * RAMP_STEP_SECONDS
    if (to > users) {
      isAtEnd = true
      break
    }
    const { latencies, failed } = await arriveAt(fleet, rate, from, to)
    const p99 = latencies.at(99)
    const lost = failed > 0 ? `, ${failed} failed` : ''
    bench.progress.say(`  ${rate} arrivals a second: p99 ${p99.toFixed(1)} ms${lost}`)
    if (p99 > boundMs || failed > 0) break
    sustained = rate
    from = to
    await sleep(LEAD_MS)
  }
  const label = `highest rate with p99 up to ${boundMs} ms${isAtEnd ? ' (no users left for a higher one)' : ''}`
  return [figure('connects_sustained', label, sustained, 'a second')]
}

export const connect: Scenario = { run }
