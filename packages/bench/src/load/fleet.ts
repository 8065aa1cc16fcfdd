// All load processes as one: every order goes to each of them, and their answers are added up.

import { type Latencies, mergeLatencies } from '../figures/histogram.ts'
import { type Child, startWorker } from '../platform/child.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Scope } from '../platform/scope.ts'
import type { Subject } from '../subject/subject.ts'
import { firstAddress } from '../wires/addresses.ts'
import type { GraphSpec } from './graphs.ts'
import type { Arrivals, ConnectReport, Counts, Inspection, Job, Order, Report } from './orders.ts'
import type { Phase, ScheduleSpec } from './schedule.ts'

export interface FleetSpec {
  graph: GraphSpec
  schedule: ScheduleSpec
  loads: number
  exactEvery: number
  /** The core of the load processes; null leaves it to the system. */
  core: number | null
}

export interface Fleet {
  spec: FleetSpec
  pids(): number[]
  connect(arrivals: Arrivals, limitMs: number): Promise<Connected>
  /** Waits until no more frames come; true if that was within the limit. */
  quiet(limitMs: number): Promise<boolean>
  mark(): Promise<void>
  beat(everyMs: number): Promise<void>
  phase(phase: Phase): Promise<void>
  reconnect(): Promise<void>
  cycle(perSecond: number): Promise<void>
  pauseReading(but: number): Promise<void>
  record(frames: number): Promise<void>
  recorded(): Promise<number[]>
  report(): Promise<Totals>
  inspect(): Promise<Inspected>
}

export interface Connected {
  latencies: Latencies
  failed: number
  lastReadyAt: number
}

export interface Totals {
  counts: Counts
  samples: string[]
  recent: Latencies
}

export interface Inspected extends Omit<Inspection, 'phases' | 'lateness'> {
  phases: Latencies[]
  lateness: Latencies[]
}

const CLOCK_SKEW_MS_MAX = 50
const PREPARE_MS_MAX = 120_000
const QUIET_MS = 300

export async function startFleet(subject: Subject, spec: FleetSpec, scope: Scope): Promise<Fleet> {
  const children: Child[] = Array.from({ length: spec.loads }, () => {
    const child = startWorker('load', spec.core)
    scope.add(child.stop)
    return child
  })

  const startedAt = now()

  const all = <Answer>(order: Order, limitMs?: number): Promise<Answer[]> =>
    Promise.all(children.map((child) => child.ask<Answer>(order, limitMs)))

  await Promise.all(
    children.map(async (child, index) => {
      const { graph, schedule, exactEvery } = spec
      const job: Job = {
        target: subject.target,
        graph,
        schedule,
        index,
        of: spec.loads,
        firstAddress: firstAddress(startedAt, index),
        exactEvery,
      }
      await child.ask({ do: 'prepare', job }, PREPARE_MS_MAX)
      const askedAt = now()
      const theirs = await child.ask<number>({ do: 'clock' })
      if (theirs < askedAt - CLOCK_SKEW_MS_MAX || theirs > now() + CLOCK_SKEW_MS_MAX)
        throw new BenchProblem('the clock of this machine was set during the start; start again')
    }),
  )

  async function report(): Promise<Totals> {
    const reports = await all<Report>({ do: 'report' })
    const counts = { ...reports[0]!.counts }
    for (const { counts: more } of reports.slice(1)) {
      for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += more[name]
    }
    return {
      counts,
      samples: reports.flatMap(({ samples }) => samples).slice(0, 5),
      recent: mergeLatencies(reports.map(({ recent }) => recent)),
    }
  }

  return {
    spec,
    report,
    pids: () => children.map(({ pid }) => pid),
    async connect(arrivals, limitMs) {
      const reports = await all<ConnectReport>({ do: 'connect', arrivals, limitMs }, limitMs + 10_000)
      return {
        latencies: mergeLatencies(reports.map(({ latencies }) => latencies)),
        failed: reports.reduce((sum, { failed }) => sum + failed, 0),
        lastReadyAt: Math.max(...reports.map(({ lastReadyAt }) => lastReadyAt)),
      }
    },
    async quiet(limitMs) {
      const until = now() + limitMs
      let last = -1
      while (now() < until) {
        const { counts } = await report()
        // Pushes, not bytes: some servers never stop pinging.
        if (counts.updates === last) return true
        last = counts.updates
        await sleep(QUIET_MS)
      }
      return false
    },
    mark: async () => void (await all({ do: 'mark' })),
    beat: async (everyMs) => void (await all({ do: 'beat', everyMs })),
    phase: async (phase) => void (await all({ do: 'phase', phase })),
    reconnect: async () => void (await all({ do: 'return' })),
    cycle: async (perSecond) => void (await all({ do: 'cycle', perSecond: perSecond / spec.loads })),
    pauseReading: async (but) => void (await all({ do: 'pauseReading', but })),
    record: async (frames) => void (await all({ do: 'record', frames: Math.ceil(frames / spec.loads) })),
    recorded: async () => (await all<number[]>({ do: 'recorded' })).flat(),
    async inspect() {
      const parts = await all<Inspection>({ do: 'inspect' })
      const sum = (pick: (part: Inspection) => number) => parts.reduce((total, part) => total + pick(part), 0)
      const merged = (pick: (part: Inspection) => string[]) =>
        pick(parts[0]!).map((_, phase) => mergeLatencies(parts.map((part) => pick(part)[phase]!)))
      return {
        phases: merged(({ phases }) => phases),
        lateness: merged(({ lateness }) => lateness),
        pairs: sum(({ pairs }) => pairs),
        behind: sum(({ behind }) => behind),
        due: sum(({ due }) => due),
        exactConnections: sum(({ exactConnections }) => exactConnections),
        framesMax: Math.max(...parts.map(({ framesMax }) => framesMax)),
      }
    },
  }
}
