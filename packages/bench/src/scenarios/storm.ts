// The server is killed and started again, and everybody comes back at once; or with --drain its processes
// are replaced one after the other. How long until the last one has all states again, and whether any
// watcher saw anybody go. Those who return within the grace were
// never gone for anybody, so it goes on watching until the grace is over.

import type { Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Subject } from '../subject/subject.ts'
import { type Bench, connectAll, figure, fleetSpec, type Scenario } from './scenario.ts'

const BACK_MS_MAX = 120_000
const LOOK_EVERY_MS = 50
/** The lease of a gateway and the delay before somebody is shown offline, by default, and some more. */
const GRACE_MS = 17_000

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress } = bench
  const { users } = options
  if (subject.restart === null) throw new BenchProblem('storm: this server cannot be started again here')
  const { fleet } = await connectAll(subject, bench, fleetSpec(options))
  const sampler = startSampler(subject, fleet, progress, 'storm')
  const before = (await fleet.report()).counts
  await fleet.reconnect()
  const killedAt = now()
  await subject.restart(options.drain ? 'drain' : 'kill')
  const answersAt = now()
  let { counts } = await fleet.report()
  while (
    (counts.arrivals - before.arrivals < users || counts.ready < users) &&
    now() < killedAt + BACK_MS_MAX
  ) {
    await sleep(LOOK_EVERY_MS)
    counts = (await fleet.report()).counts
  }
  const backAt = now()
  const missing = users - counts.ready
  await sleep(GRACE_MS)
  const after = (await fleet.report()).counts
  const { timeS, series } = await sampler.stop()
  const seen = after.updates - before.updates
  const gone = after.gone - before.gone
  // Whoever was moved to a gateway that drained later came twice, as they should.
  const again = options.drain ? 0 : after.arrivals - before.arrivals - users + missing

  const ended = options.drain ? 'asked to drain' : 'killed'
  const backSeconds = (backAt - answersAt) / 1000
  const returns = [
    figure('return_ms', 'server answers until the last one is back', backAt - answersAt, 'ms'),
    figure('returns_per_second', 'returns', (users - missing) / backSeconds, 'a second'),
  ]
  const problems: string[] = []
  if (missing > 0) problems.push(`${missing} of ${users} users did not come back`)
  if (seen > 0) problems.push(`watchers were told of ${seen} changes, and nobody had changed`)
  if (gone > 0) problems.push(`${gone} times somebody was shown as gone`)
  if (again > 0) problems.push(`${again} connections were lost again after they were back`)
  return {
    figures: [
      figure('connected', 'users', users),
      figure('server_back_ms', `server ${ended} until it answers`, answersAt - killedAt, 'ms'),
      figure('all_back_ms', `server ${ended} until the last one is back`, backAt - killedAt, 'ms'),
      ...(options.drain ? [] : returns),
      figure('visible_events', 'changes that watchers saw', seen + gone),
    ],
    curves: [],
    timeS,
    series,
    problems,
    notes: [
      'Whoever is refused tries again after 100 to 300 ms; a good client waits longer each time.',
      `Watched for ${GRACE_MS / 1000} s after the last one was back, which is longer than the grace.`,
    ],
  }
}

export const storm: Scenario = { settings: ['--drain-ms=5000'], run }
