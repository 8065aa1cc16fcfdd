// The phases of the run, one after the other, sampled all the time.
import type { Outcome } from '../figures/result.ts'
import { now, sleep } from '../platform/clock.ts'
import type { Progress } from '../platform/progress.ts'
import type { Scope } from '../platform/scope.ts'
import { startRedis } from '../subject/redis.ts'
import { startDeployment } from './gateways.ts'
import { type Counters, type LoadFleet, startLoadFleet } from './load-fleet.ts'
import { figuresOf } from './million-figures.ts'
import { availableBytes, kernelBytes, partOf } from './parts.ts'
import { type Samples, startSamples } from './samples.ts'

/** As the calm policy asks of clients. */
const BEAT_EVERY_MS = 30_000
const SETTLE_MS = 30_000
/** The rate of connections grows for this long: new processes run cold code, and share two cores. */
const WARM_S = 120
/** Below this, connecting stops: the machine would begin to swap or kill. */
const SPARE_BYTES = 1.2e9
/** Seconds without a new connection after which no more are expected. */
const STALLED_S = 60
/** The lease, the grace before a user is shown offline, and a margin. */
const AFTER_FAULT_MS = 60_000
const BACK_MS_MAX = 300_000
/** Changes after a fault, in rounds of this length, until those of one round arrive at all watchers again. */
const ROUND_MS = 30_000
const ROUNDS_MAX = 30
/** Until the last of them has arrived, and until every process of the load has taken an order and told of it. */
const LAST_MS = 3_000
const ORDER_MS = 1_500

export interface MillionOptions {
  folder: string
  /** The script of the server; null is the installed one. */
  program: string | null
  users: number
  contacts: number
  graph: 'ring' | 'random'
  placement: 'near' | 'any'
  perProcess: number
  connectsPerSecond: number
  changesPerSecond: number
  minutes: number
}

export async function measureMillion(
  options: MillionOptions,
  { scope, progress }: { scope: Scope; progress: Progress },
): Promise<Outcome> {
  const {
    folder,
    program,
    users,
    contacts,
    graph,
    perProcess,
    connectsPerSecond,
    changesPerSecond,
    minutes,
  } = options
  const kernelBefore = kernelBytes()
  let redis = await startRedis(folder, scope)
  const gateways = Math.ceil(users / perProcess)
  const deployment = await startDeployment(
    {
      folder,
      program,
      gateways,
      isPortShared: options.placement === 'any',
      redisUrl: redis.url,
      settings: ['--policy=calm'],
      onStarted: (started) => progress.show(`${started} of ${gateways} gateways have started`),
    },
    scope,
  )
  const emptyGateways = partOf(deployment.gatewayPids())
  progress.show('making tokens')
  const fleet = await startLoadFleet(
    {
      folder,
      target: deployment.target,
      ports: deployment.ports,
      users,
      usersPerProcess: perProcess,
      contacts,
      graph,
    },
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

  const samples = startSamples({ counters: fleet.counters, usage: parts, latency: fleet.latency })
  const wait = async (ms: number, tell: (waitedMs: number) => void = () => undefined) => {
    const until = now() + ms
    for (; now() < until; await sleep(Math.min(1_000, Math.max(1, until - now())))) {
      await samples.take()
      tell(ms - until + now())
    }
  }
  /**
   * Users change for this long; says how many changes arrived, how many did not, how long they took, and how often a
   * watcher was told what it knew.
   */
  const change = async (ms: number) => {
    fleet.countFromNow()
    await wait(ORDER_MS)
    await samples.latency()
    const before = fleet.counters()
    fleet.change(changesPerSecond)
    await wait(ms, (waitedMs) => {
      const { ready, deliveries } = fleet.counters()
      const came = deliveries - before.deliveries
      progress.show(`${ready} users, ${came} deliveries, ${Math.round(waitedMs / 1000)} s`)
    })
    fleet.change(0.001)
    await wait(LAST_MS)
    const after = fleet.counters()
    const changes = after.changes - before.changes
    const deliveries = after.deliveries - before.deliveries
    const arrived = after.arrived - before.arrived
    const missing = after.expected - before.expected - arrived
    const repeated = deliveries - arrived
    const bytesIn = after.bytes_in - before.bytes_in
    return { after, changes, arrived, repeated, missing, bytesIn, latency: await samples.latency() }
  }
  /** Until all users are connected, changes arrive at all watchers again, and none is told what it knows. */
  const afterFault = async (fault: string, faultAt: number, before: Counters) => {
    progress.say(fault)
    const backMs = await untilBack(fleet, connected, { progress, samples })
    await wait(AFTER_FAULT_MS)
    let round = { startedAt: now(), ...(await change(ROUND_MS)) }
    for (let rounds = 1; (round.missing !== 0 || round.repeated !== 0) && rounds < ROUNDS_MAX; rounds++)
      round = { startedAt: now(), ...(await change(ROUND_MS)) }
    const { deliveries, arrived, offline: offlineNow, ready } = fleet.counters()
    const repeated = deliveries - before.deliveries - (arrived - before.arrived)
    const offline = offlineNow - before.offline
    const away = connected - ready
    if (round.missing !== 0) problems.push(`${round.missing} deliveries are missing after this: ${fault}`)
    if (round.repeated !== 0)
      problems.push(`watchers were still told ${round.repeated} times what they knew after this: ${fault}`)
    if (offline > 0) problems.push(`${offline} deliveries said offline after this: ${fault}`)
    if (away > 0) problems.push(`${away} users are not back after this: ${fault}`)
    return { backMs, wholeMs: round.startedAt - faultAt, repeated, offline, latency: round.latency }
  }

  // The users come.
  const startedAt = now()
  const cpuAtStart = parts()
  fleet.beat(BEAT_EVERY_MS)
  const limit = await untilReady(fleet, { users, connectsPerSecond }, { progress, samples })
  const cameS = (now() - startedAt) / 1000
  if (limit !== null) problems.push(limit)
  const connected = fleet.counters().ready
  const cpuAtEnd = parts()
  await wait(SETTLE_MS)

  // They beat, and some change.
  const usedBefore = parts()
  const steadyMs = minutes * 60_000
  const { after, changes, arrived, missing, bytesIn, latency } = await change(steadyMs)
  const used = parts()
  if (after.offline > 0) problems.push(`${after.offline} deliveries said offline before anything broke`)
  if (missing !== 0) problems.push(`${missing} deliveries are missing`)

  // One gateway dies; its users come back to the others, or to the one that replaces it.
  if (limit === null) fleet.comeBack()
  const killedAt = now()
  await deployment.kill()
  await deployment.startMissing()
  const kill = await afterFault('a gateway was killed', killedAt, after)

  const beforeRestart = fleet.counters()
  const restartedAt = now()
  redis = await redis.restart()
  const redisRestart = await afterFault('Redis started again, empty', restartedAt, beforeRestart)

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
    deliveries: arrived,
    bytesIn,
    latency,
    errors: after.failed,
    closed: after.closed,
    kill,
    redisRestart,
  })
  return { figures, curves: [], ...samples.series(), problems, notes: [] }
}

interface Watching {
  progress: Progress
  samples: Samples
}

/** Null when all are connected; else why no more are. */
async function untilReady(
  fleet: LoadFleet,
  { users, connectsPerSecond }: Pick<MillionOptions, 'users' | 'connectsPerSecond'>,
  { progress, samples }: Watching,
): Promise<string | null> {
  let [best, stalledS] = [0, 0]
  for (let second = 0; ; second++) {
    if (second <= WARM_S) fleet.connect(connectsPerSecond * Math.max(0.05, second / WARM_S))
    await sleep(1_000)
    await samples.take()
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
async function untilBack(
  fleet: LoadFleet,
  connected: number,
  { progress, samples }: Watching,
): Promise<number> {
  const startedAt = now()
  // The load sees the end of a connection at once, but tells of it once a second.
  await sleep(2_000)
  while (fleet.counters().ready < connected && now() - startedAt < BACK_MS_MAX) {
    progress.show(`${fleet.counters().ready} of ${connected} are back`)
    await samples.take()
    await sleep(1_000)
  }
  return now() - startedAt
}
