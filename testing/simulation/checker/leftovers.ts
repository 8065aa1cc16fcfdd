// B7: after all users have left, nothing is left of them: no interest, sessions, deadlines, duties or lost gateways in
// the store, no rows, edges, waiting work or growing number of timers in the processes. Records outlive their users for
// a while; then they are gone too, from Redis and from the memory of a server alone.

import type { PresenceStore } from '../../../packages/server/src/store/port.ts'
import type { Violation } from '../../faults/random/checks/violation.ts'
import type { RedisNode } from '../adapters/redis-node.ts'
import type { ServerProcess } from '../world/process.ts'

/** What may be left in a shard, after its hash tag. The change log is cut by its length only. */
const KEPT = /^\{s\d+\}:(u:.*|keep|c|n|e|log|log:.*)$/
/** Longer than any record is kept, and than any clock is wrong. */
const LATER_MS = 30 * 24 * 3_600_000
const ALL = 1_000
/** Of a process that has nothing to do. */
const TIMERS_MAX = 24

export function checkLeftovers(
  nodes: readonly RedisNode[],
  processes: readonly ServerProcess[],
  now: number,
): Violation[] {
  const left = [
    ...nodes.flatMap((node) => leftInStore(node, leasesOf(processes))),
    ...processes.flatMap(leftInProcess),
  ]
  return left.map((what) => ({ check: 'leftover', at: now, what }))
}

/** What any store says is left, and the records that it does not forget when their time is over. */
export async function checkForgotten(
  store: PresenceStore,
  ids: readonly string[],
  now: number,
): Promise<Violation[]> {
  const later = now + LATER_MS
  const left: string[] = []
  for (let shard = 0; shard < store.shardCount; shard++) {
    for (const { userId } of await store.due(shard, later, ALL)) left.push(`${userId} has a deadline`)
    for (const duty of ['announce', 'archive'] as const)
      for (const { userId } of await store.openDuties(duty, shard, later, ALL))
        left.push(`${userId} has the duty ${duty}`)
  }
  for (const gateway of await store.attachedGateways()) left.push(`${gateway} has sessions or interest`)
  await store.forget(later, ALL)
  for (const [index, stored] of (await store.load(ids)).entries())
    if (stored !== null) left.push(`the record of ${ids[index]} is not forgotten`)
  return left.map((what) => ({ check: 'leftover', at: now, what }))
}

/** One for each gateway and sweeper, and one for the foreign gateways that a process holds. */
const leasesOf = (processes: readonly ServerProcess[]): number =>
  processes.reduce((sum, { roles }) => sum + 1 + roles.filter((role) => role !== 'fanout').length, 0)

function leftInStore({ name, data }: RedisNode, leases: number): string[] {
  const left: string[] = []
  const range = { min: '-inf', max: '+inf' }
  for (const key of data.keys()) {
    if (KEPT.test(key) || key.startsWith('{log:')) continue
    if (key.startsWith('{s')) left.push(`${key} is left in ${name}`)
    else if (key.endsWith('lost'))
      left.push(`lost gateways are left in ${name}: ${data.sortedRange(key, range).map(([lost]) => lost)}`)
    else if (key.endsWith('held') && data.sortedRange(key, range).length > leases)
      left.push(`${data.sortedRange(key, range).length} leases, of ${leases} that there may be`)
  }
  for (const key of data.keys().filter((one) => /^\{s\d+\}:c$/.test(one)))
    for (const status of ['online', 'away', 'busy'])
      if (Number(data.hashGet(key, status) ?? 0) !== 0)
        left.push(`${key} counts ${data.hashGet(key, status)} users as ${status}`)
  return left
}

function leftInProcess(process: ServerProcess): string[] {
  const { name, machine } = process
  const { gateway, tracker, archivist, dutySweep } = process.pipeline()!
  const gauges = gateway?.gauges()
  const counts = {
    sessions: gauges?.sessions ?? 0,
    watches: gauges?.watches ?? 0,
    'watched users': gauges?.watchedUsers ?? 0,
    streams: gauges?.streams ?? 0,
    'slow readers': gauges?.slowReaders ?? 0,
    waves: (gauges?.wavesWalking ?? 0) + (gauges?.wavesWaiting ?? 0),
    'late announcements': dutySweep.oldestSince('announce') === null ? 0 : 1,
    'late rows': dutySweep.oldestSince('archive') === null ? 0 : 1,
    'users in the tracker': tracker.depth(),
    'rows in the archivist': archivist.backlog(),
  }
  const left = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${name} has ${count} ${what}`)
  if (machine.timers() > TIMERS_MAX) left.push(`${name} has ${machine.timers()} timers`)
  if (gateway !== null && !gateway.isHealthy()) left.push(`${name} is not healthy`)
  return left
}
