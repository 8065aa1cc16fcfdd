// All users are connected and send heartbeats only: what a user costs in memory, CPU and bytes.

import type { Outcome } from '../figures/result.ts'
import { startSampler } from '../figures/sampler.ts'
import { sleep } from '../platform/clock.ts'
import { proportionalBytes, usageOf } from '../platform/proc.ts'
import type { Subject } from '../subject/subject.ts'
import { look } from './churn.ts'
import {
  BEAT_EVERY_MS,
  type Bench,
  connectAll,
  faults,
  figure,
  fleetSpec,
  helperFigures,
  REST_MS,
  type Scenario,
} from './scenario.ts'

const EMPTY_MS = 1_000

async function run(subject: Subject, bench: Bench): Promise<Outcome> {
  const { options, progress } = bench
  await sleep(EMPTY_MS)
  const empty = usageOf(subject.pids())
  const { fleet, seconds: connectSeconds } = await connectAll(subject, bench, fleetSpec(options))
  const sampler = startSampler(subject, fleet, progress, 'idle')
  await sleep(REST_MS)

  const before = await look(subject, fleet)
  await sleep(options.seconds * 1000)
  const after = await look(subject, fleet)
  const { timeS, series } = await sampler.stop()

  const { users, contacts } = options
  const seconds = (after.at - before.at) / 1000
  const hours = seconds / 3600
  const cpu = after.usage.cpuSeconds - before.usage.cpuSeconds
  const perUser = (after.usage.residentBytes - empty.residentBytes) / users
  const bytes = (name: 'bytesIn' | 'bytesOut') => (after.counts[name] - before.counts[name]) / users / hours
  const allInBytes = subject.pids().reduce((sum, pid) => sum + proportionalBytes(pid), 0)
  const problems = await faults(fleet)
  if (after.counts.ready !== users) problems.push(`${users - after.counts.ready} users are not connected`)
  return {
    figures: [
      figure('connected', 'connected users', after.counts.ready),
      figure('contacts', 'contacts of each', contacts),
      figure('empty_server_mb', 'empty server', empty.residentBytes / 1e6, 'MB'),
      figure('kb_per_user', 'memory per user, above the empty server', perUser / 1024, 'KB'),
      figure(
        'all_in_kb',
        'memory of the server by users, shared pages counted once',
        allInBytes / users / 1024,
        'KB',
      ),
      figure(
        'idle_cpu_percent',
        `CPU while all beat every ${BEAT_EVERY_MS / 1000} s`,
        (cpu / seconds) * 100,
        '% of a core',
      ),
      figure('bytes_out_per_user_hour', 'bytes from server to user per hour', bytes('bytesIn'), 'bytes'),
      figure('bytes_in_per_user_hour', 'bytes from user to server per hour', bytes('bytesOut'), 'bytes'),
      figure('gather_per_second', 'connects a second, 200 at a time', users / connectSeconds, 'a second'),
      ...helperFigures(before.helpers, after.helpers, seconds),
    ],
    constants: {
      connection_bytes: { value: Math.round(perUser), unit: 'bytes per connection, with idle_contacts' },
      idle_contacts: { value: contacts, unit: 'contacts in that run' },
      process_bytes: {
        value: empty.residentBytes / subject.pids().length,
        unit: 'bytes of an empty gateway',
      },
      beat_cpu_us: {
        value: (cpu * 1e6) / ((users * seconds * 1000) / BEAT_EVERY_MS),
        unit: 'µs per heartbeat',
      },
    },
    curves: [],
    timeS,
    series,
    problems,
    notes: [
      `Memory is resident memory of the server processes, ${REST_MS / 1000} s after the last one connected.`,
      'All of the memory is shared by the users: also that of the empty server, where a page of several processes counts once.',
      'Bytes are those of the TCP streams, without the headers of the network.',
    ],
  }
}

export const idle: Scenario = { run }
