// The changes of one user go to all others, beside a bare loop of `send` with frames of the
// same size in the same run. The clients stop reading for the measurement, so that reading does not
// cost more than sending; what was sent is what the server counted.

import type { Outcome } from '../figures/result.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import { usageOf } from '../platform/proc.ts'
import { createScope } from '../platform/scope.ts'
import type { Subject } from '../subject/subject.ts'
import { startBare } from './bare.ts'
import { type Bench, connectAll, figure, fleetSpec, type Scenario } from './scenario.ts'

const CHANGES_PER_SECOND = 60
const WARM_MS = 1_000
const BARE_WARM_MS = 2_000
const SIZES_WANTED = 100
/** Paused readers fill their buffers; a long measurement would measure that. */
const SECONDS_MAX = 8

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress } = bench
  const seconds = Math.min(options.seconds, SECONDS_MAX)
  const { users } = options
  const { fleet } = await connectAll(
    subject,
    bench,
    fleetSpec(options, {
      graph: { kind: 'star', users, contacts: 1, seed: options.seed },
      schedule: { users, changers: 1, order: 'sequential', seed: options.seed },
    }),
  )
  await fleet.record(SIZES_WANTED)
  await fleet.phase({
    startAt: now(),
    perSecond: CHANGES_PER_SECOND,
    changes: CHANGES_PER_SECOND * (seconds + 3),
  })
  progress.show('fanout: the changes of one user go to all others')
  await sleep(WARM_MS)
  const sizes = await fleet.recorded()
  if (sizes.length === 0) throw new BenchProblem('no watcher received a change')
  await fleet.pauseReading(0)
  const before = await look(subject)
  await sleep(seconds * 1000)
  const after = await look(subject)
  const blocked = (await subject.metric('greendot_slow_readers')) ?? 0
  await subject.stop()

  const scope = createScope()
  bench.scope.add(scope.close)
  const bare = await startBare({ ...bench, scope })
  const ms = seconds * 1000
  progress.show('fanout: the bare loop')
  await bare.order({ do: 'blast', sizes, ms: BARE_WARM_MS }, BARE_WARM_MS)
  await bare.fleet.pauseReading(-1)
  const loop = await bare.order({ do: 'blast', sizes, ms }, ms)
  await scope.close()

  const frames = after.frames - before.frames
  const wall = (after.at - before.at) / 1000
  const cpu = after.cpu - before.cpu
  const loopRate = loop.sent / (loop.wallMs / 1000)
  const loopPerCpu = loop.sent / (loop.cpuMs / 1000)
  return {
    figures: [
      figure('watchers', 'watchers of one user', users - 1),
      figure('bare_frames_per_second', 'bare loop of send', loopRate, 'frames a second'),
      figure('fanout_frames_per_second', 'server', frames / wall, 'frames a second'),
      figure('bare_frames_per_cpu_second', 'bare loop of send, per CPU-second', loopPerCpu, 'frames'),
      figure('fanout_frames_per_cpu_second', 'server, per CPU-second', frames / cpu, 'frames'),
      figure(
        'fanout_of_bare_time_percent',
        'of the bare loop, by time',
        (frames / wall / loopRate) * 100,
        '%',
      ),
      figure('fanout_of_bare_percent', 'of the bare loop, by CPU', (frames / cpu / loopPerCpu) * 100, '%'),
    ],
    constants: { frame_cpu_us: { value: (cpu * 1e6) / frames, unit: 'µs per frame with one change' } },
    curves: [],
    timeS: [],
    series: [],
    problems: blocked > 0 ? [`${blocked} connections are blocked: fewer --seconds are needed`] : [],
    notes: ['The clients stop reading for the measurement. Pacing of large audiences is off.'],
  }
}

async function look(subject: Subject) {
  const frames = await subject.metric('greendot_frames_out_total')
  if (frames === null)
    throw new BenchProblem('fanout: one process with metrics is needed; leave out --gateways')
  return { at: now(), frames, cpu: usageOf(subject.pids()).cpuSeconds }
}

export const fanout: Scenario = {
  settings: ['--paced-above=1000000', '--queued-above=1000000'],
  run,
}
