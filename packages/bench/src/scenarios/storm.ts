// The server is killed and restarted, and all users reconnect at once; or with --drain its processes are
// replaced one after the other. Measures the time until the last user has all states again, and whether any
// watcher saw a change. A user that returns within the grace must never be shown as offline, so watching
// goes on until the grace is over.

import type { Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { now, sleep } from '../platform/clock.ts'
import { BenchProblem } from '../platform/problem.ts'
import type { Subject } from '../subject/subject.ts'
import { type Bench, connectAll, figure, fleetSpec, type Scenario } from './scenario.ts'

const BACK_MS_MAX = 120_000
const LOOK_EVERY_MS = 50
/** The lease of a gateway and the delay before a user is shown as offline, by default, and a margin. */
const GRACE_MS = 17_000

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress } = bench
  const { users } = options
  if (subject.restart === null) throw new BenchProblem('storm: this server cannot be restarted here')
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
  // With a drain, a user may move to a gateway that drains later, and reconnects twice.
  const again = options.drain ? 0 : after.arrivals - before.arrivals - users + missing

  const ended = options.drain ? 'asked to drain' : 'killed'
  const backSeconds = (backAt - answersAt) / 1000
  const returns = [
    figure('return_ms', 'server answers until the last one is back', backAt - answersAt, 'ms'),
    figure('returns_per_second', 'returns', (users - missing) / backSeconds, 'a second'),
  ]
  const problems: string[] = []
  if (missing > 0) problems.push(`${missing} of ${users} users did not come back`)
  if (seen > 0) problems.push(`watchers received ${seen} changes, and no user had changed`)
  if (gone > 0) problems.push(`${gone} times a user was shown as offline`)
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
      'A refused client tries again after 100 to 300 ms; a good client waits longer each time.',
      `Watched for ${GRACE_MS / 1000} s after the last one was back, which is longer than the grace.`,
    ],
  }
}

export const storm: Scenario = { settings: ['--drain-ms=5000'], run }
