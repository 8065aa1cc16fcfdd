// One user, watched by all others, changes 10 times in 2 seconds. The event loop must not block, every watcher
// must end with the newest state, and no watcher should get a frame for each of the ten changes.

import { curveOf } from '../figures/histogram.ts'
import type { Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { now, sleep } from '../platform/clock.ts'
import type { Subject } from '../subject/subject.ts'
import { type Bench, connectAll, faults, figure, fleetSpec, type Scenario } from './scenario.ts'

const CHANGES = 10
const SECONDS = 2
const LEAD_MS = 500
const END_MS_MAX = 30_000
const LOOK_EVERY_MS = 100
const LOOP_BLOCK = 'greendot_loop_block_max_seconds'

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress } = bench
  const { users } = options
  const watchers = users - 1
  const { fleet } = await connectAll(
    subject,
    bench,
    fleetSpec(options, {
      graph: { kind: 'star', users, contacts: 1, seed: options.seed },
      schedule: { users, changers: 1, order: 'sequential', seed: options.seed },
      // With one target each, all connections can be exact.
      exactEvery: 1,
    }),
  )
  const sampler = startSampler(subject, fleet, progress, 'celebrity')
  await subject.metric(LOOP_BLOCK)
  const before = (await fleet.report()).counts
  const startAt = now() + LEAD_MS
  await fleet.phase({ startAt, perSecond: CHANGES / SECONDS, changes: CHANGES })
  const lastAt = startAt + ((CHANGES - 1) / CHANGES) * SECONDS * 1000
  await sleep(lastAt - now())
  let inspected = await fleet.inspect()
  while (inspected.behind > 0 && now() < lastAt + END_MS_MAX) {
    await sleep(LOOK_EVERY_MS)
    inspected = await fleet.inspect()
  }
  const endedAt = now()
  await fleet.quiet(END_MS_MAX)
  const blockSeconds = await subject.metric(LOOP_BLOCK)
  const { counts } = await fleet.report()
  inspected = await fleet.inspect()
  const { timeS, series } = await sampler.stop()
  const latencies = inspected.phases[0]!

  const problems = await faults(fleet)
  if (inspected.behind > 0)
    problems.push(`${inspected.behind} of ${watchers} watchers did not end with the newest state`)
  return {
    figures: [
      figure('watchers', 'watchers of one user', watchers),
      figure('changes', `changes in ${SECONDS} s`, CHANGES),
      ...(blockSeconds === null
        ? []
        : [figure('loop_block_ms', 'longest block of the event loop', blockSeconds * 1000, 'ms')]),
      figure('frames_per_watcher', 'frames per watcher', (counts.frames - before.frames) / watchers),
      figure('frames_per_watcher_max', 'most frames of one watcher', inspected.framesMax),
      figure('all_right_after_ms', 'last change until all watchers have it', endedAt - lastAt, 'ms'),
      figure('celebrity_p99_ms', 'p99 from change to receipt of it or a newer one', latencies.at(99), 'ms'),
    ],
    curves: [{ label: 'change to receipt', count: latencies.count(), points: curveOf(latencies) }],
    timeS,
    series,
    problems,
    notes: ['Every watcher is read to the last byte. The time to the end is to the tenth of a second.'],
  }
}

export const celebrity: Scenario = { run }
