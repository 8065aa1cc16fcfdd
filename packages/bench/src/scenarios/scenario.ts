// What a scenario is, and the start that most of them share: all users connect, then no more frames come.

import type { ConstantName } from '../capacity/constant-names.ts'
import type { Figure, Outcome } from '../figures/result.ts'
import { type Fleet, type FleetSpec, startFleet } from '../load/fleet.ts'
import { loadsFor, type Options } from '../options.ts'
import { now } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import { usageOf } from '../platform/proc.ts'
import type { Progress } from '../platform/progress.ts'
import type { Scope } from '../platform/scope.ts'
import type { Subject } from '../subject/subject.ts'

export interface Bench {
  options: Options
  /** Stops everything that the scenario starts. */
  scope: Scope
  progress: Progress
}

export interface Scenario {
  /** Settings the server needs for it, as flags. */
  settings?: readonly string[]
  run(subject: Subject, bench: Bench): Promise<Outcome>
}

export const BEAT_EVERY_MS = 15_000
/** The server frees memory some seconds after many connects. What is measured begins after that. */
export const REST_MS = 20_000
const PARALLEL = 200
const CONNECT_MS_MAX = 600_000
const QUIET_MS_MAX = 30_000

export function fleetSpec(options: Options, change: Partial<FleetSpec> = {}): FleetSpec {
  const { users, contacts, graph, seed, changers, order, exactConnections, loadCore } = options
  return {
    graph: { kind: graph, users, contacts, seed },
    schedule: { users, changers: changers ?? users, order, seed },
    loads: loadsFor(options),
    exactEvery: Math.max(1, Math.round(users / exactConnections)),
    core: loadCore,
    ...change,
  }
}

export interface ConnectedLoad {
  fleet: Fleet
  seconds: number
}

/** All users connect as fast as the server allows; when no more frames come, counting begins. */
export async function connectAll(subject: Subject, bench: Bench, spec: FleetSpec): Promise<ConnectedLoad> {
  const { progress, scope } = bench
  const { users } = spec.graph
  progress.show(`preparing ${users} users, load processes: ${spec.loads}`)
  const fleet = await startFleet(subject, spec, scope)
  // From the start: the first users may wait long for the last.
  await fleet.beat(BEAT_EVERY_MS)
  const startedAt = now()
  const watch = setInterval(() => {
    void fleet.report().then(
      ({ counts }) => progress.show(`connecting: ${counts.ready} of ${users}`),
      // The end of a load process fails the orders that follow.
      () => {},
    )
  }, 500)
  const parallel = Math.max(1, Math.floor(PARALLEL / spec.loads))
  const { failed, lastReadyAt } = await fleet
    .connect({ how: 'parallel', parallel, from: 0, to: users }, CONNECT_MS_MAX)
    .finally(() => clearInterval(watch))
  if (failed > 0) throw new BenchProblem(`${failed} of ${users} could not connect: ${await why(fleet)}`)
  if (!(await fleet.quiet(QUIET_MS_MAX)))
    throw new BenchProblem('frames keep coming after all users have connected')
  await fleet.mark()
  return { fleet, seconds: (lastReadyAt - startedAt) / 1000 }
}

async function why(fleet: Fleet): Promise<string> {
  const { samples } = await fleet.report()
  return samples[0] ?? 'the server gave no reason; is it still running, and may it open enough files?'
}

export const figure = (name: string, label: string, value: number, unit = ''): Figure => ({
  name,
  label,
  value: Number(value.toPrecision(6)),
  unit,
})

/** What the helpers of a server have used so far, to be compared with a later sample. */
export function lookAtHelpers({ helpers = [] }: Subject) {
  return helpers.map(({ name, title, pids }) => ({ name, title, usage: usageOf(pids) }))
}

export function helperFigures(
  before: ReturnType<typeof lookAtHelpers>,
  after: ReturnType<typeof lookAtHelpers>,
  seconds: number,
): Figure[] {
  return after.flatMap(({ name, title, usage }, index) => {
    const cpu = usage.cpuSeconds - before[index]!.usage.cpuSeconds
    return [
      figure(`${name}_cpu_percent`, `CPU of ${title}`, (cpu / seconds) * 100, '% of a core'),
      figure(`${name}_mb`, `memory of ${title}`, usage.residentBytes / 1e6, 'MB'),
    ]
  })
}

/** What the parts of the streaming deployment take for each change, for the capacity model; nothing without Kafka. */
export function helperConstants(
  before: ReturnType<typeof lookAtHelpers>,
  after: ReturnType<typeof lookAtHelpers>,
  changes: number,
): NonNullable<Outcome['constants']> {
  if (!after.some(({ name }) => name === 'kafka')) return {}
  return Object.fromEntries(
    after.flatMap(({ name, title, usage }, index) => {
      const constant = CONSTANT_OF_HELPER[name]
      const cpuUs = (usage.cpuSeconds - before[index]!.usage.cpuSeconds) * 1e6
      if (constant === undefined || changes === 0) return []
      return [[constant, { value: cpuUs / changes, unit: `µs of ${title} per change` }]]
    }),
  )
}

const CONSTANT_OF_HELPER: Readonly<Record<string, ConstantName>> = {
  presence: 'owner_cpu_us',
  fanout: 'fanout_cpu_us',
  kafka: 'kafka_cpu_us',
  redis: 'redis_update_us',
}

/** Faults that count in every scenario. */
export async function faults(fleet: Fleet, { isOfflineFine = false } = {}): Promise<string[]> {
  const { counts, samples } = await fleet.report()
  const example = samples[0] === undefined ? '' : `, such as: ${samples[0]}`
  return [
    ...(counts.errors > 0 ? [`${counts.errors} errors${example}`] : []),
    ...(counts.closed > 0 ? [`${counts.closed} connections were lost`] : []),
    ...(counts.gone > 0 && !isOfflineFine
      ? [`${counts.gone} times a connected user was shown as offline`]
      : []),
    ...(counts.backwards > 0 ? [`${counts.backwards} times an older change came after a newer one`] : []),
    ...(counts.unmade > 0 ? [`${counts.unmade} changes were received that were never made`] : []),
  ]
}
