// What a user costs in memory while all are idle, while many change, and a minute later: what a server takes under
// load and gives back.

import type { Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { now, sleep } from '../platform/clock.ts'
import { usageOf } from '../platform/proc.ts'
import type { Subject } from '../subject/subject.ts'
import { type Bench, connectAll, faults, figure, fleetSpec, REST_MS, type Scenario } from './scenario.ts'

const EMPTY_MS = 4_000
const RATE = 4_000
const LAST_MS_MAX = 30_000
const AFTER_MS = 60_000

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress } = bench
  const { users, contacts, seconds } = options
  const rate = options.rate ?? RATE
  const memory = () => usageOf(subject.pids()).residentBytes
  await sleep(EMPTY_MS)
  const empty = memory()
  const { fleet } = await connectAll(subject, bench, fleetSpec(options))
  const sampler = startSampler(subject, fleet, progress, 'memory')
  await sleep(REST_MS)
  const idle = memory()
  await fleet.phase({ startAt: now(), perSecond: rate, changes: rate * seconds })
  await sleep(seconds * 1000)
  await fleet.quiet(LAST_MS_MAX)
  await sleep(AFTER_MS)
  const after = memory()
  const { counts } = await fleet.report()
  const { timeS, series } = await sampler.stop()
  const most = Math.max(...series.find(({ chart }) => chart === 'memory')!.values.map((mb) => mb ?? 0)) * 1e6
  const perUser = (bytes: number) => (bytes - empty) / users / 1024
  const problems = await faults(fleet)
  return {
    figures: [
      figure('connected', 'connected users', counts.ready),
      figure('contacts', 'contacts of each', contacts),
      figure('changes', 'changes', counts.changesMade),
      figure('empty_server_mb', 'empty server', empty / 1e6, 'MB'),
      figure('idle_kb', 'memory per user, above the empty server: idle', perUser(idle), 'KB'),
      figure('most_kb', 'the most of it under change', perUser(most), 'KB'),
      figure('after_kb', 'a minute after the changes', perUser(after), 'KB'),
    ],
    curves: [],
    timeS,
    series,
    problems,
    notes: [
      `Memory is resident memory of the server processes: idle ${REST_MS / 1000} s after the last one connected, ` +
        `under change once a second during ${seconds} s at ${rate} changes a second.`,
    ],
  }
}

export const memory: Scenario = { run }
