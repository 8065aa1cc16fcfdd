// Batch queries of a backend while all users are connected and many change: the latency of 200 and of 1,000
// ids as seen by one viewer. A tenth of the users are visible to contacts only.

import { curveOf, type Latencies } from '../figures/histogram.ts'
import type { Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { now } from '../platform/clock.ts'
import type { Subject } from '../subject/subject.ts'
import { userName } from '../wires/wire.ts'
import { askSteadily, type Backend, backendOf } from './queries.ts'
import { type Bench, connectAll, faults, figure, fleetSpec, type Scenario } from './scenario.ts'

const USERS_MAX = 5_000
const CHANGES_PER_SECOND = 500
const ASKED_PER_SECOND = 20
const SIZES = [200, 1_000] as const
const WARM_SECONDS = 10
/** One user in so many is visible to contacts only. */
const PRIVATE_EVERY = 10

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const options = { ...bench.options, users: Math.min(bench.options.users, USERS_MAX) }
  const { users, seconds } = options
  const rate = options.rate ?? CHANGES_PER_SECOND
  const backend = backendOf(subject)
  bench.progress.show('query: writing settings')
  await makeSomePrivate(backend, users)
  const { fleet } = await connectAll(subject, bench, fleetSpec(options))
  const sampler = startSampler(subject, fleet, bench.progress, 'query')
  const changes = rate * (SIZES.length * (seconds + WARM_SECONDS) + 5)
  await fleet.phase({ startAt: now(), perSecond: rate, changes })
  const answers: { size: number; latencies: Latencies }[] = []
  for (const size of SIZES) {
    const asking = { users, size, perSecond: ASKED_PER_SECOND }
    await askSteadily(backend, { ...asking, seconds: WARM_SECONDS })
    answers.push({ size, latencies: await askSteadily(backend, { ...asking, seconds }) })
  }
  const { timeS, series } = await sampler.stop()
  return {
    figures: [
      figure('connected', 'connected users', users),
      figure('changes_per_second', 'changes', rate, 'a second'),
      ...answers.flatMap(({ size, latencies }) => [
        figure(`query_${size}_p50_ms`, `${size} ids, p50`, latencies.at(50), 'ms'),
        figure(`query_${size}_p99_ms`, `${size} ids, p99`, latencies.at(99), 'ms'),
        figure(`query_${size}_count`, `${size} ids, queries`, latencies.count()),
      ]),
    ],
    curves: answers.map(({ size, latencies }) => ({
      label: `query of ${size}`,
      count: latencies.count(),
      points: curveOf(latencies),
    })),
    timeS,
    series,
    // Users that are visible to contacts only are shown as offline to the others.
    problems: await faults(fleet, { isOfflineFine: true }),
    notes: [
      `${ASKED_PER_SECOND} queries a second, from the instant each was due to the parsed answer, by an ` +
        'asker that shares the machine. One user in ten is visible to contacts only.',
    ],
  }
}

async function makeSomePrivate(backend: Backend, users: number): Promise<void> {
  for (let user = 0; user < users; user += PRIVATE_EVERY) {
    const path = `/api/v1/users/${userName(user)}`
    await backend.call('PUT', `${path}/settings`, { status_visibility: 'contacts' })
    await backend.call('PUT', `${path}/contacts`, { user_ids: [userName((user + 1) % users)] })
  }
}

export const query: Scenario = { run }
