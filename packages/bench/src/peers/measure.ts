// All figures of one server in one run: memory when empty, all users connect, memory settles, users change
// at the rate common to all servers, then at growing rates until one is not sustained, then at half of that;
// at last all users disconnect and reconnect. The same steps in the same order for every server; only the wire differs.

import { type Fleet, startFleet } from '../load/fleet.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import { usageOf } from '../platform/proc.ts'
import { createScope } from '../platform/scope.ts'
import { churnAt } from '../scenarios/churn.ts'
import { findSustained } from '../scenarios/ramp.ts'
import { BEAT_EVERY_MS, type Bench, faults, fleetSpec } from '../scenarios/scenario.ts'
import type { Subject } from '../subject/subject.ts'
import type { Figures } from './table.ts'

/** Changes a second at which all are compared; the weakest must be able to do it. */
const COMMON_RATE = 1_000
/** Servers free memory some seconds after many connects; memory is read after that. */
const REST_MS = 20_000
const EMPTY_MS = 1_000
const PARALLEL = 200
const ARRIVE_MS_MAX = 600_000
const QUIET_MS_MAX = 60_000
/** This share of the users connects first and is not timed: fresh processes compile while they work. */
const WARM_SHARE = 1 / 3
/** Longer than the grace of every server measured here. */
const GONE_MS = 15_000

export interface Measured {
  figures: Figures
  faults: string[]
}

export async function measure(subject: Subject, bench: Bench): Promise<Measured> {
  const { options, progress, scope } = bench
  const { users, seconds } = options
  const rate = options.rate ?? COMMON_RATE
  const say = (what: string) => progress.say(`${subject.title}: ${what}`)

  await sleep(EMPTY_MS)
  const empty = usageOf(subject.pids())
  const firstVisit = createScope()
  scope.add(firstVisit.close)
  const fleet = await startFleet(subject, fleetSpec(options), firstVisit)
  // The first users must not time out while the last are still connecting.
  await fleet.beat(BEAT_EVERY_MS)
  say(`${users} users connect`)
  const arrivals = await allConnect(subject, fleet, users, WARM_SHARE)
  await sleep(REST_MS)
  if (!(await fleet.quiet(QUIET_MS_MAX)))
    throw new BenchProblem('frames keep coming after all users have connected')
  const memoryBytesPerUser = (usageOf(subject.pids()).residentBytes - empty.residentBytes) / users
  await fleet.mark()

  say(`${rate} changes a second`)
  const common = figuresOf((await churnAt(subject, fleet, rate, seconds)).figures)
  say('growing rates of changes')
  const limit = figuresOf(await findSustained(fleet, bench, rate))
  const half = Math.round(limit('sustained_changes_per_second') / 2)
  say(`${half} changes a second, half of what it sustains`)
  const relaxed =
    half < 1 ? () => Number.NaN : figuresOf((await churnAt(subject, fleet, half, seconds)).figures)

  const { counts } = await fleet.report()
  const found = await faults(fleet)
  await firstVisit.close()
  say('all users disconnect and reconnect')
  await sleep(GONE_MS)
  const returning = await startFleet(subject, fleetSpec(options), scope)
  await returning.beat(BEAT_EVERY_MS)
  const returned = await allConnect(subject, returning, users, 0)
  return {
    figures: {
      memoryBytesPerUser,
      ...arrivals,
      warmConnectsPerSecond: returned.connectsPerSecond,
      cpuSecondsPer100kDeliveries: common('cpu_s_per_100k_deliveries'),
      sustainedDeliveriesPerSecond: limit('sustained_deliveries_per_second'),
      cpuSecondsPer100kAtHalfLoad: relaxed('cpu_s_per_100k_deliveries'),
      p99AtHalfLoadMs: relaxed('churn_p99_ms'),
      errors: counts.errors + counts.closed,
    },
    faults: found,
  }
}

async function allConnect(
  subject: Subject,
  fleet: Fleet,
  users: number,
  warmShare: number,
): Promise<Pick<Figures, 'connectsPerSecond' | 'connectsPerCpuSecond'>> {
  const atOnce = Math.min(PARALLEL, subject.backlogMax ?? PARALLEL)
  const parallel = Math.max(1, Math.floor(atOnce / fleet.spec.loads))
  const first = Math.ceil(users * warmShare)
  const arrive = async (from: number, to: number) => {
    const { failed, lastReadyAt } = await fleet.connect(
      { how: 'parallel', parallel, from, to },
      ARRIVE_MS_MAX,
    )
    if (failed === 0) return lastReadyAt
    const [why = 'it gave no reason'] = (await fleet.report()).samples
    throw new BenchProblem(`${failed} of ${to - from} users could not connect: ${why}`)
  }
  if (first > 0) await arrive(0, first)
  const cpuBefore = usageOf(subject.pids()).cpuSeconds
  const startedAt = now()
  const lastReadyAt = await arrive(first, users)
  const cpuSeconds = usageOf(subject.pids()).cpuSeconds - cpuBefore
  return {
    connectsPerSecond: ((users - first) / (lastReadyAt - startedAt)) * 1000,
    connectsPerCpuSecond: (users - first) / cpuSeconds,
  }
}

/** Looks a figure of a scenario up by its name; one that is missing is a dash in the table. */
function figuresOf(figures: readonly { name: string; value: number }[]): (name: string) => number {
  return (name) => figures.find((figure) => figure.name === name)?.value ?? Number.NaN
}
