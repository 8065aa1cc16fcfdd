// All users connect as fast as possible. Then, while they are connected, further users connect at a fixed rate,
// timed from the instant each was due until the welcome and the states of all contacts are there. With --ramp a
// third of the users connects first, and the others at growing rates until one is not sustained.

import { curveOf } from '../figures/histogram.ts'
import type { Figure, Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { type Connected, type Fleet, startFleet } from '../load/fleet.ts'
import { CONNECTS_PER_SECOND, timedUsers } from '../options.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import { usageOf } from '../platform/proc.ts'
import type { Subject } from '../subject/subject.ts'
import { BEAT_EVERY_MS, type Bench, faults, figure, fleetSpec, REST_MS, type Scenario } from './scenario.ts'

const WARM_SHARE = 1 / 3
/** Fewer would say nothing about p99. */
const TIMED_MIN = 10
const RAMP_GROWTH = 1.25
const RAMP_STEP_SECONDS = 1
const PARALLEL = 200
const LEAD_MS = 300
const SLACK_MS = 10_000
const REST_MS_PER_USER = 2
const CONNECT_MS_MAX = 600_000

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress, scope } = bench
  const { users, contacts } = options
  const rate = options.rate ?? CONNECTS_PER_SECOND
  const timed = timedUsers(options)
  if (!options.ramp && timed < TIMED_MIN)
    throw new BenchProblem(
      `connect: there is no room for users that connect beside ${users} others; take fewer --users, or more --gateways and --redis`,
    )
  const everyone = { ...options, users: users + timed }
  const spec = fleetSpec(everyone)
  progress.show(`preparing ${users + timed} users, load processes: ${spec.loads}`)
  const fleet = await startFleet(subject, spec, scope)
  await fleet.beat(BEAT_EVERY_MS)
  const sampler = startSampler(subject, fleet, progress, 'connect')

  // A fresh process compiles while it works, so the first users are not counted.
  const warm = Math.ceil(users * WARM_SHARE)
  const warmed = await arriveInParallel(fleet, 0, warm)
  if (warmed.failed > 0)
    throw new BenchProblem(`${warmed.failed} of the first ${warm} users could not connect`)
  const parts = options.ramp
    ? await climb(fleet, rate, warm, bench)
    : await connectBeside(subject, fleet, { rate, warm, users, timed })
  const { timeS, series } = await sampler.stop()
  return {
    ...parts,
    timeS,
    series,
    problems: [...parts.problems, ...(await faults(fleet))],
    notes: [
      `From the instant a connect was due to its welcome and the states of ${contacts} contacts: TCP, ` +
        'handshake, token check, welcome, watch, snapshot.',
      `The first ${warm} users connected before, uncounted.`,
    ],
  }
}

type Parts = Pick<Outcome, 'figures' | 'constants' | 'curves' | 'problems'>
interface Beside {
  rate: number
  warm: number
  users: number
  timed: number
}

/** The rest of the users as fast as possible; then, with all of them connected, the timed ones at the rate. */
async function connectBeside(
  subject: Subject,
  fleet: Fleet,
  { rate, warm, users, timed }: Beside,
): Promise<Parts> {
  const fast = await connectRest(subject, fleet, warm, users)
  // A few users leave little to free.
  await sleep(Math.min(REST_MS, users * REST_MS_PER_USER))
  const before = (await fleet.report()).counts.ready
  const { result, cpuSeconds } = await measured(subject, () => arriveAt(fleet, rate, users, users + timed))
  const { latencies, failed } = result
  const cpuMs = (cpuSeconds / timed) * 1000
  const problems: string[] = []
  if (before !== users) problems.push(`${users - before} of ${users} users were not connected at the start`)
  if (failed > 0) problems.push(`${failed} of ${timed} timed connects failed`)
  return {
    figures: [
      ...fast,
      figure('connected', 'connected users, before the timed connects', before),
      figure('connect_rate', 'timed connects a second, beside them', rate, 'a second'),
      figure('connect_arrivals', 'connects that were timed', latencies.count()),
      ...[50, 90, 95, 99].map((percentile) =>
        figure(`connect_p${percentile}_ms`, `p${percentile}`, latencies.at(percentile), 'ms'),
      ),
      figure('connect_p999_ms', 'p99.9', latencies.at(99.9), 'ms'),
      figure('connect_max_ms', 'longest', latencies.max(), 'ms'),
      figure('cpu_ms_per_connect', 'server CPU per connect, heartbeats of all included', cpuMs, 'ms'),
    ],
    constants: { connect_cpu_us: { value: cpuMs * 1000, unit: 'µs per connect, with idle_contacts' } },
    curves: [{ label: `connect at ${rate} a second`, count: latencies.count(), points: curveOf(latencies) }],
    problems,
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
async function climb(fleet: Fleet, firstRate: number, first: number, bench: Bench): Promise<Parts> {
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
    bench.progress.say(`  ${rate} connects a second: p99 ${p99.toFixed(1)} ms${lost}`)
    if (p99 > boundMs || failed > 0) break
    sustained = rate
    from = to
    await sleep(LEAD_MS)
  }
  const label = `highest rate with p99 up to ${boundMs} ms${isAtEnd ? ' (no users left for a higher one)' : ''}`
  return { figures: [figure('connects_sustained', label, sustained, 'a second')], curves: [], problems: [] }
}

export const connect: Scenario = { run }
