// A long steady load: users change, some reconnect, a backend queries. Memory must not grow, no error may
// happen, and every watcher must end with the newest state.

import { curveOf } from '../figures/histogram.ts'
import type { Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { floorOf, slopePerHour } from '../figures/slope.ts'
import { now, sleep } from '../platform/clock.ts'
import type { Subject } from '../subject/subject.ts'
import { askSteadily, backendOf } from './queries.ts'
import { type Bench, connectAll, faults, figure, fleetSpec, type Scenario } from './scenario.ts'

const RATE = 500
const RECONNECTS_PER_SECOND = 20
const ASKED_PER_SECOND = 5
const ASKED_SIZE = 200
const LAST_MS_MAX = 10_000
/** One a second; garbage is collected several times in so many. */
const FLOOR_SAMPLES = 60
/** Memory at the beginning is that of a process that warms up. */
const WARM_SHARE = 0.2

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress } = bench
  const { users, minutes } = options
  const rate = options.rate ?? RATE
  const seconds = minutes * 60
  // Half of the users change, some of the others reconnect: a user that does both would lose changes.
  const changers = Math.min(options.changers ?? users, Math.ceil(users / 2))
  const spec = fleetSpec(options)
  const { fleet } = await connectAll(subject, bench, { ...spec, schedule: { ...spec.schedule, changers } })
  const backend = backendOf(subject)
  const sampler = startSampler(subject, fleet, progress, 'soak')
  await fleet.phase({ startAt: now(), perSecond: rate, changes: rate * seconds })
  await fleet.cycle(RECONNECTS_PER_SECOND)
  const size = Math.min(ASKED_SIZE, users)
  const asked = await askSteadily(backend, { users, size, perSecond: ASKED_PER_SECOND, seconds })
  await fleet.cycle(0)
  await sleep(1_000)
  await fleet.quiet(LAST_MS_MAX)
  const inspected = await fleet.inspect()
  const { counts } = await fleet.report()
  const { timeS, series } = await sampler.stop()
  const memory = series.find(({ chart }) => chart === 'memory')!.values
  const slope = slopePerHour(timeS, floorOf(memory, FLOOR_SAMPLES), WARM_SHARE)
  const latencies = inspected.phases[0]!

  const problems = await faults(fleet)
  if (inspected.behind > 0)
    problems.push(`${inspected.behind} of ${inspected.pairs} watched contacts do not have the newest state`)
  return {
    figures: [
      figure('minutes', 'length', minutes, 'minutes'),
      figure('changes', 'changes made', counts.changesMade),
      figure('deliveries', 'deliveries', counts.updates),
      figure('reconnects', 'reconnects', counts.arrivals - users),
      figure('queries', `queries of ${size}`, asked.count()),
      figure('soak_p50_ms', 'p50 from change to receipt', latencies.at(50), 'ms'),
      figure('soak_p99_ms', 'p99', latencies.at(99), 'ms'),
      figure('query_p99_ms', 'p99 of the queries', asked.at(99), 'ms'),
      figure('memory_mb', 'memory at the end', memory.at(-1) ?? 0, 'MB'),
      figure('memory_slope_mb_hour', 'slope of the floor of memory', slope, 'MB an hour'),
    ],
    curves: [
      { label: 'change to receipt', count: latencies.count(), points: curveOf(latencies) },
      { label: `query of ${size}`, count: asked.count(), points: curveOf(asked) },
    ],
    timeS,
    series,
    problems,
    notes: [
      `The slope is that of a straight line through the lowest memory of each minute, after the first ${WARM_SHARE * 100} %.`,
    ],
  }
}

export const soak: Scenario = { run }
