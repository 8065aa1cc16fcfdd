// The phases of the run, one after the other, and what is sampled once a second in all of them.
import type { Outcome } from '../figures/result.ts'
import { now, sleep } from '../platform/clock.ts'
import type { Progress } from '../platform/progress.ts'
import type { Scope } from '../platform/scope.ts'
import { startRedis } from '../subject/redis.ts'
import { startDeployment } from './gateways.ts'
import { type LoadFleet, startLoadFleet } from './load-fleet.ts'
import { figuresOf } from './million-figures.ts'
import { availableBytes, kernelBytes, partOf } from './parts.ts'

/** As the calm policy asks of clients. */
const BEAT_EVERY_MS = 30_000
const SETTLE_MS = 30_000
/** Below this, connecting stops: the machine would begin to swap or kill. */
const SPARE_BYTES = 1.2e9
/** Seconds without a new connection after which no more are expected. */
const STALLED_S = 60
/** The lease, the grace before a user is shown offline, and a margin. */
const AFTER_FAULT_MS = 60_000
const BACK_MS_MAX = 300_000

export interface MillionOptions {
  folder: string
  users: number
  contacts: number
  graph: 'ring' | 'random'
  perProcess: number
  connectsPerSecond: number
  changesPerSecond: number
  minutes: number
}

export async function measureMillion(
  options: MillionOptions,
  { scope, progress }: { scope: Scope; progress: Progress },
): Promise<Outcome> {
  const { folder, users, contacts, graph, perProcess, connectsPerSecond, changesPerSecond, minutes } = options
  const kernelBefore = kernelBytes()
  let redis = await startRedis(folder, scope)
  const gateways = Math.ceil(users / perProcess)
  const deployment = await startDeployment(
    {
      folder,
      gateways,
      redisUrl: redis.url,
      settings: ['--policy=calm'],
      onStarted: (started) => progress.show(`${started} of ${gateways} gateways have started`),
    },
    scope,
  )
  const emptyGateways = partOf(deployment.gatewayPids())
  progress.show('making tokens')
  const fleet = await startLoadFleet(
    { folder, target: deployment.target, users, usersPerProcess: perProcess, contacts, graph },
    scope,
  )
  const problems: string[] = []
  const parts = () => ({
    gateways: partOf(deployment.gatewayPids()),
    presence: partOf(deployment.presencePids()),
    redis: partOf([redis.pid]),
    load: partOf(fleet.pids),
    kernel: { bytes: kernelBytes() - kernelBefore, cpuSeconds: 0 },
  })

  // The users come.
  const startedAt = now()
  const cpuAtStart = parts()
  fleet.connect(connectsPerSecond)
  fleet.beat(BEAT_EVERY_MS)
  const limit = await untilReady(fleet, users, progress)
  const cameS = (now() - startedAt) / 1000
  if (limit !== null) problems.push(limit)
  const connected = fleet.counters().ready
  const cpuAtEnd = parts()
  await sleep(SETTLE_MS)

  // They beat, and some change.
  await fleet.latency()
  const before = fleet.counters()
  const usedBefore = parts()
  fleet.change(changesPerSecond)
  const steadyMs = minutes * 60_000
  for (let waitedMs = 0; waitedMs < steadyMs; waitedMs += 1_000) {
    await sleep(1_000)
    const { ready, deliveries } = fleet.counters()
    progress.show(
      `${ready} users, ${deliveries - before.deliveries} deliveries, ${Math.round(waitedMs / 1000)} s`,
    )
  }
  fleet.change(0.001)
  await sleep(2_000)
  const after = fleet.counters()
  const used = parts()
  const latency = await fleet.latency()
  const changes = after.changes - before.changes
  const deliveries = after.deliveries - before.deliveries
  if (after.offline > 0) problems.push(`${after.offline} deliveries said offline before anything broke`)
  if (deliveries < changes * contacts)
    problems.push(`${changes * contacts - deliveries} of ${changes * contacts} deliveries are missing`)

  // One gateway dies; its users come back to the others, and to the one that replaces it.
  progress.say('a gateway is killed')
  await deployment.kill()
  await deployment.startMissing()
  const backAfterKill = await untilBack(fleet, connected, progress)
  await sleep(AFTER_FAULT_MS)
  const offlineAfterKill = fleet.counters().offline - after.offline
  if (offlineAfterKill > 0)
    problems.push(`${offlineAfterKill} deliveries said offline after a gateway was killed`)

  // Redis starts again, empty.
  progress.say('Redis starts again, empty')
  const beforeRestart = fleet.counters()
  redis = await redis.restart()
  const backAfterRedis = await untilBack(fleet, connected, progress)
  await sleep(AFTER_FAULT_MS)
  const offlineAfterRedis = fleet.counters().offline - beforeRestart.offline
  if (offlineAfterRedis > 0)
    problems.push(`${offlineAfterRedis} deliveries said offline after Redis restarted`)
  if (fleet.counters().ready < connected)
    problems.push(`${connected - fleet.counters().ready} users are not back`)

  const figures = figuresOf({
    gateways,
    connected,
    cameS,
    connectCpuSeconds: cpuAtEnd.gateways.cpuSeconds - cpuAtStart.gateways.cpuSeconds,
    emptyBytes: emptyGateways.bytes,
    usedBefore,
    used,
    steadyMs,
    changes,
    deliveries,
    latency,
    errors: after.failed,
    closed: after.closed,
    kill: { backMs: backAfterKill, offline: offlineAfterKill },
    redisRestart: { backMs: backAfterRedis, offline: offlineAfterRedis },
  })
  return { figures, curves: [], timeS: [], series: [], problems, notes: [] }
}

/** Null when all are connected; else why no more are. */
async function untilReady(fleet: LoadFleet, users: number, progress: Progress): Promise<string | null> {
  let [best, stalledS] = [0, 0]
  for (;;) {
    await sleep(1_000)
    const { ready, failed, closed } = fleet.counters()
    const free = availableBytes()
    progress.show(
      `${bar(ready / users)} ${ready} of ${users} connected, ${failed} errors, ${closed} ended, ${(free / 1e9).toFixed(1)} GB left`,
    )
    if (ready >= users) return null
    stalledS = ready > best ? 0 : stalledS + 1
    best = Math.max(best, ready)
    const why =
      free < SPARE_BYTES ? 'no memory is left' : stalledS >= STALLED_S ? `none came for ${STALLED_S} s` : null
    if (why === null) continue
    fleet.connect(0.001)
    return `${ready} of ${users} users are connected: ${why}`
  }
}

const BAR_WIDTH = 24
const bar = (share: number): string => '█'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '░')

/** How many milliseconds until as many are connected again. */
async function untilBack(fleet: LoadFleet, connected: number, progress: Progress): Promise<number> {
  const startedAt = now()
  // The load sees the end of a connection at once, but tells of it once a second.
  await sleep(2_000)
  while (fleet.counters().ready < connected && now() - startedAt < BACK_MS_MAX) {
    progress.show(`${fleet.counters().ready} of ${connected} are back`)
    await sleep(1_000)
  }
  return now() - startedAt
}
