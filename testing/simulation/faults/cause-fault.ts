// Causes one planned fault, and ends it after its time. What was broken and when is in the history.

import { COMMIT } from '../../../packages/server/src/store/redis-scripts.ts'
import type { FaultRecord, FaultScope, History } from '../../faults/random/history/history.ts'
import type { DatabaseState } from '../adapters/archive.ts'
import type { Call, NodeData, RedisNode } from '../adapters/redis-node.ts'
import type { Bounds } from '../checker/bounds.ts'
import type { Peer } from '../clients/peer.ts'
import type { Person } from '../clients/people.ts'
import type { Deployment } from '../world/deployment.ts'
import type { Ground } from '../world/ground.ts'
import type { ServerProcess } from '../world/process.ts'
import type { FaultKind, PlannedFault } from './plan-faults.ts'

/** Asynchronous replication loses at most this much. */
export const LOST_MS_MAX = 1_000
/** A process that is paused is back well before its lease runs out. */
const PAUSED_SHARE = 0.4
const STEP_MS_MAX = 600_000
const STORE_STEP_MS_MAX = 100

/** Told of every call that a node executed. */
export type Calls = Set<(call: Call, reply: unknown) => void>

export interface Breakable {
  ground: Ground
  deployment: Deployment
  /** The devices of all users and viewers. */
  peers: readonly Peer[]
  people: readonly Person[]
  history: History
  bounds: Bounds
  calls: Calls
}

const SCOPES: Record<FaultKind, FaultScope> = {
  'process crashed': 'server',
  'process crashed at a commit': 'server',
  'process crashed at a publication': 'server',
  'gateway crashed with its clients': 'server',
  'process frozen': 'server',
  'process paused': 'server',
  'process restarted': 'server',
  'rolling restart': 'server',
  'store emptied': 'store',
  'node emptied': 'store',
  'node restarted empty': 'store',
  'node restarted': 'store',
  failover: 'store',
  'node frozen': 'store',
  'node away': 'store',
  'subscriptions killed': 'store',
  'connections reset': 'store',
  'archive away': 'archive',
  'archive frozen': 'archive',
  'archive full': 'archive',
  'archive locked': 'archive',
  'archive slow': 'archive',
  'archive answers lost': 'archive',
  'process cut from node': 'store',
  'process cut from archive': 'archive',
  'process cut off': 'store',
  'network slow': 'store',
  'clock set': 'server',
  'store clock set': 'store',
  'mass reconnect': 'clients',
}

/** Schedules the fault; `startAt` is the beginning of the active time. */
export function scheduleFault(fault: PlannedFault, broken: Breakable, startAt: number): void {
  const { ground, history, bounds } = broken
  const { timeline, redis } = ground
  const node = redis.nodes[fault.which % redis.nodes.length]!
  const lost: { data: NodeData | null } = { data: null }
  // A replica has the state of a moment ago.
  if (fault.kind === 'failover' || fault.kind === 'node restarted')
    timeline.at(startAt + fault.at - fault.amount * LOST_MS_MAX, () => {
      lost.data = node.data.copy()
    })
  timeline.at(startAt + fault.at, () => {
    const scope = SCOPES[fault.kind]
    const record: FaultRecord = {
      name: fault.kind,
      scope,
      from: timeline.now(),
      to: Number.POSITIVE_INFINITY,
      healMs: bounds.healMs[scope],
      servers: [],
      isOfArchive: scope === 'archive' || fault.kind === 'process cut off',
    }
    history.faults.push(record)
    const end = cause(fault, broken, node, lost, record)
    timeline.at(timeline.now() + fault.forMs, () => {
      end()
      record.to = timeline.now()
    })
  })
}

const nothing = () => {}

/** Begins it, and returns what ends it. */
function cause(
  fault: PlannedFault,
  broken: Breakable,
  node: RedisNode,
  lost: { data: NodeData | null },
  record: FaultRecord,
): () => void {
  const { ground, deployment, peers, people, bounds } = broken
  const { network, redis, database, settings, timeline } = ground
  // Gateways come first.
  const places = fault.kind === 'gateway crashed with its clients' ? settings.gateways : deployment.places
  const place = fault.which % places
  const process = deployment.at(place)
  switch (fault.kind) {
    case 'process crashed':
      crash()
      return startAgain
    case 'gateway crashed with its clients': {
      const gone = clientsOf(process)
      crash()
      for (const leave of gone) leave()
      return startAgain
    }
    case 'process crashed at a commit':
      return crashAt(({ command, args }) => command === 'evalsha' && args[0] === COMMIT.sha)
    case 'process crashed at a publication':
      return crashAt(({ command }) => command === 'spublish')
    case 'process frozen':
    case 'process paused': {
      if (process === null) return nothing
      const isPaused = fault.kind === 'process paused'
      if (!isPaused) excuse(process)
      process.machine.freeze()
      const pausedMs = Math.min(fault.forMs, PAUSED_SHARE * Math.min(settings.leaseMs, settings.ttlMs))
      const until = timeline.now() + (isPaused ? pausedMs : fault.forMs)
      record.stoodStill = { server: process.name, until }
      if (isPaused)
        timeline.at(until, () => {
          process.machine.thaw()
          if (wasSlowSince(record.from - settings.leaseMs)) excuse(process)
        })
      return () => process.machine.thaw()
    }
    case 'process restarted':
      excuse(process)
      void deployment.stop(place).then(() => deployment.start(place))
      return nothing
    case 'rolling restart':
      void roll()
      return nothing
    case 'store emptied':
      for (const one of redis.nodes) one.empty()
      return nothing
    case 'node emptied':
      node.empty()
      return nothing
    case 'node restarted empty':
      return restart(() => {
        node.empty()
        node.comeUp()
      })
    case 'node restarted':
    case 'failover':
      return restart(() => node.become(lost.data!))
    case 'node frozen':
      node.freeze()
      return () => node.thaw()
    case 'node away':
      return restart(() => node.comeUp())
    case 'subscriptions killed':
      node.dropSubscribers()
      return nothing
    case 'connections reset':
      restart(() => node.comeUp())()
      return nothing
    case 'archive away':
      return archiveIs('away')
    case 'archive frozen':
      return archiveIs('frozen')
    case 'archive full':
      return archiveIs('full')
    case 'archive locked':
      return archiveIs('locked')
    case 'archive slow':
      database.setSlowMs(fault.amount * 1_500)
      return () => database.setSlowMs(0)
    case 'archive answers lost':
      database.setLostShare(fault.amount)
      return () => database.setLostShare(0)
    case 'process cut from node':
      return cut([node.name])
    case 'process cut from archive':
      return cut([database.name])
    case 'process cut off':
      return cut([...redis.nodes.map(({ name }) => name), database.name])
    case 'network slow':
      network.setSlowMs(fault.amount * 300)
      return () => network.setSlowMs(0)
    case 'clock set':
      // A server alone follows a step by minutes at once, and its sessions are lost for a moment (decision 33).
      if (settings.deployment === 'embedded') excuse(process)
      process?.machine.step((fault.amount - 0.5) * 2 * STEP_MS_MAX)
      return nothing
    case 'store clock set':
      node.stepClock((fault.amount - 0.5) * 2 * STORE_STEP_MS_MAX)
      return nothing
    case 'mass reconnect':
      for (const peer of peers) if (process !== null && peer.server() === process.name) peer.reconnect()
      return nothing
  }

  /** Renewals of leases that take their time leave no room for a pause: the lease runs out. */
  function wasSlowSince(at: number): boolean {
    return broken.history.faults.some(({ name, to }) => name === 'network slow' && to >= at)
  }

  /** As when a site is lost: what ends the devices on this process. Every third user comes back, as the plan says. */
  function clientsOf(one: ServerProcess | null): (() => void)[] {
    const acting = people.filter((_, index) => index % 3 !== 0)
    return acting.flatMap(({ devices, act }) =>
      devices.flatMap(({ peer }, device) =>
        peer.server() === one?.name ? [() => act({ do: 'end', device, how: 'silent' })] : [],
      ),
    )
  }

  /** Its connections may be taken as lost. */
  function excuse(one: ServerProcess | null): void {
    if (one !== null) record.servers.push(one.name)
  }

  function crash(): void {
    const killed = deployment.at(place)
    excuse(killed)
    deployment.crash(place)
    if (killed === null) return
    // It may have waited for its moment.
    record.from = timeline.now()
    // Nothing is left of it that can sweep, and another process does.
    if (deployment.serving('presence').length > 0)
      record.ghostsUntil = timeline.now() + bounds.killedMs['others sweep']
  }

  function startAgain(): void {
    deployment.start(place)
    record.ghostsUntil ??= timeline.now() + bounds.killedMs.alone
  }

  /** Where another fault has restarted the node meanwhile, that was that. */
  function restart(end: () => void): () => void {
    if (!node.isUp()) return nothing
    node.goDown()
    const incarnation = node.incarnation()
    return () => {
      if (node.incarnation() === incarnation) end()
    }
  }

  /** Between the effect of a call and its answer. */
  function crashAt(isMeant: (call: Call) => boolean): () => void {
    const listener = (call: Call) => {
      const present = deployment.at(place)
      if (present === null || call.from !== present.name || !isMeant(call)) return
      broken.calls.delete(listener)
      crash()
    }
    broken.calls.add(listener)
    return () => {
      broken.calls.delete(listener)
      startAgain()
    }
  }

  async function roll(): Promise<void> {
    for (let each = 0; each < deployment.places; each++) {
      excuse(deployment.at(each))
      await deployment.stop(each)
      deployment.start(each)
    }
  }

  function archiveIs(state: DatabaseState): () => void {
    database.setState(state)
    return () => database.setState('up')
  }

  function cut(names: readonly string[]): () => void {
    if (process === null) return nothing
    excuse(process)
    for (const name of names) network.cut(process.name, name)
    return () => {
      for (const name of names) network.mend(process.name, name)
    }
  }
}
