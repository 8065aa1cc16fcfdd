// Everything of a run that follows a plan: the ground, the processes, users and viewers, and the history of what they did
// and were shown. The verbs let virtual time pass; nothing else does.
import { drainMicrotasks } from 'bun:jsc'
import type { StatusChangedRecord } from '@greendot/protocol'
import { useChance } from '../../../packages/server/src/platform/chance.ts'
import type { HistoryChange } from '../../../packages/server/src/presence/core/history.ts'
import { COMMIT, COMMIT_FIELDS } from '../../../packages/server/src/store/redis-scripts.ts'
import { createHistory } from '../../faults/random/history/history.ts'
import { type Borrowed, borrowArchive } from '../../noninterference/archives.ts'
import { createSimulatedDatabase } from '../adapters/archive.ts'
import { createRedisNode } from '../adapters/redis-node.ts'
import { partsOf } from '../adapters/store-scripts.ts'
import { boundsOf } from '../checker/bounds.ts'
import { createPerson, type PeopleParts } from '../clients/people.ts'
import { createViewer, keepAsking, type Viewer } from '../clients/viewers.ts'
import { type Breakable, type Calls, scheduleFault } from '../faults/cause-fault.ts'
import { createMachine } from '../time/machine.ts'
import { createNetwork } from '../time/network.ts'
import { randomOf } from '../time/random.ts'
import { createTimeline } from '../time/timeline.ts'
import { createDeployment } from '../world/deployment.ts'
import type { Ground, Planting } from '../world/ground.ts'
import type { Plan, Step } from './plan.ts'

const NOTHING_CHOSEN = {
  availability: null,
  customStatus: null,
  awayAfter: null,
  privacy: null,
  history: null,
}
/** In the middle of a day. */
const START_AT = Date.UTC(2026, 2, 1, 12)
const STARTED_MS_MAX = 30_000

export type World = ReturnType<typeof createWorld>

export interface WorldOptions {
  plan: Plan
  plant?: () => Planting
  onLog?: Ground['onLog']
}

const asItIs = (): Planting => ({})

export function createWorld({ plan, plant = asItIs, onLog }: WorldOptions) {
  const { seed, settings } = plan
  const chance = randomOf(seed, 'chance')
  useChance({ fraction: chance.fraction, bytes: chance.bytes })
  const timeline = createTimeline(START_AT)
  const history = createHistory(timeline.now)
  const network = createNetwork(timeline, randomOf(seed, 'network'), settings.networkMs)
  const calls: Calls = new Set()
  const { scripts } = plant()
  const nodes = Array.from({ length: settings.nodes }, (_, index) =>
    createRedisNode({
      name: `redis-${index}`,
      timeline,
      ...(scripts && { replace: scripts }),
      onCall: (call, reply) => {
        for (const listener of calls) listener(call, reply)
      },
    }),
  )
  const borrowed = borrow()
  const logged = createLogged(calls)
  /** Users who keep a history. */
  const keepingHistory = plan.users.filter(() => settings.historyDays > 0).map(({ id }) => id)
  const ground: Ground = {
    seed,
    settings,
    timeline,
    network,
    redis: { nodes, isCluster: nodes.length > 1, network, timeline, random: randomOf(seed, 'wires') },
    database: createSimulatedDatabase({
      archive: borrowed.archive,
      network,
      timeline,
      random: randomOf(seed, 'database'),
    }),
    plant,
    onLog(process, level, text) {
      history.remark(`${process} ${level}: ${text}`)
      onLog?.(process, level, text)
    },
  }
  const deployment = createDeployment(ground)
  const parts: PeopleParts = { ground, deployment, random: randomOf(seed, 'clients'), history }
  const people = plan.users.map((user) => createPerson(user, parts))
  const ids = plan.users.map(({ id }) => id)
  const viewers = plan.viewers.map((id) => createViewer(id, ids, parts))
  const peers = [
    ...people.flatMap(({ devices }) => devices.map(({ peer }) => peer)),
    ...viewers.map(({ peer }) => peer),
  ]
  deployment.onCrash((process) => {
    for (const peer of peers) peer.crashed(process)
  })
  const present = new Set<Viewer>()
  const bounds = boundsOf(settings)
  const broken: Breakable = { ground, deployment, peers, people, history, bounds, calls }
  let asking: { stop(): void } | null = null

  function borrow(): Borrowed {
    const machine = createMachine({
      name: 'database',
      timeline,
      random: randomOf(seed, 'database machine'),
      lateMsMax: 0,
      skewMs: 0,
      drift: 0,
    })
    return resolved(borrowArchive(machine.clock))
  }

  /** What a promise resolves with that needs no time. */
  function resolved<T>(promise: Promise<T>): T {
    return settled(promise, timeline.now())
  }

  /** Lets time pass until the promise is settled. */
  function settled<T>(promise: Promise<T>, until: number): T {
    let result: { value: T } | { error: unknown } | null = null
    promise.then(
      (value) => {
        result = { value }
      },
      (error: unknown) => {
        result = { error }
      },
    )
    drainMicrotasks()
    if (!timeline.runUntilTrue(() => result !== null, until)) throw new Error('it takes too long')
    const ended = result as unknown as { value: T } | { error: unknown }
    if ('error' in ended) throw ended.error
    return ended.value
  }

  function enter(viewer: Viewer): void {
    present.add(viewer)
    viewer.peer.open()
  }

  function take(step: Step): void {
    if (step.who === 'user') people[step.user]!.act(step.action)
    else if (step.action === 'arrive') enter(viewers[step.viewer]!)
    else viewers[step.viewer]!.peer.reconnect()
  }

  return {
    plan,
    ground,
    timeline,
    history,
    deployment,
    people,
    ids,
    viewers: present,
    logged,
    keepingHistory,
    bounds,
    settled,
    /** Starts the processes, and connects users and viewers. */
    begin(): void {
      for (let place = 0; place < deployment.places; place++) deployment.start(place)
      const until = timeline.now() + STARTED_MS_MAX
      if (!timeline.runUntilTrue(() => deployment.serving().length === deployment.places, until))
        throw new Error('not all processes have started')
      for (const userId of keepingHistory)
        resolved(
          borrowed.archive.writeSettings([
            { ...NOTHING_CHOSEN, userId, history: { isKept: true, setAt: 1 } },
          ]),
        )
      for (const { id, contacts } of plan.users)
        if (contacts.length > 0) resolved(borrowed.archive.replaceContacts(id, contacts, timeline.now()))
      for (const [index, { choices }] of plan.users.entries())
        for (const { field, value } of choices) void people[index]!.choose(field, value, 'http')
      timeline.runUntilTrue(() => people.every((person) => person.isSettled()), until)
      for (const person of people)
        for (const device of person.devices.keys()) person.act({ do: 'connect', device })
      for (const viewer of viewers.slice(0, plan.firstViewers)) enter(viewer)
      asking = keepAsking(plan.viewers, ids, bounds.visibleMs, parts)
    },
    /** Users act, and faults happen. */
    follow(): void {
      const startAt = timeline.now()
      for (const fault of plan.faults) scheduleFault(fault, broken, startAt)
      for (const step of plan.steps) timeline.at(startAt + step.at, () => take(step))
      timeline.runUntil(startAt + plan.activeMs)
    },
    leave(): void {
      history.remark('all users leave')
      const endings = ['left', 'closed', 'silent'] as const
      for (const [index, person] of people.entries())
        for (const device of person.devices.keys())
          person.act({ do: 'end', device, how: endings[index % endings.length]! })
    },
    stopWatching(): void {
      asking?.stop()
      for (const { peer } of present) peer.end('left')
    },
    /** After it nothing may be used. */
    end(): void {
      const isIdle = timeline.runUntilTrue(ground.database.isIdle, timeline.now() + STARTED_MS_MAX)
      useChance(null)
      if (isIdle) resolved(borrowed.giveBack())
    },
  }
}

/** What commits have put into the change log, by user: what its consumers must find there. */
function createLogged(calls: Calls): Map<string, HistoryChange[]> {
  const logged = new Map<string, HistoryChange[]>()
  calls.add(({ command, args }, reply) => {
    if (command !== 'evalsha' || args[0] !== COMMIT.sha) return
    for (const record of recordsOf(args.slice(3), reply as CommitAnswers[])) {
      const { user_id: userId, version, at, new_status: status, devices, history } = record
      if (history !== true) continue
      const changes = logged.get(userId) ?? []
      logged.set(userId, changes)
      changes.push({ userId, version, at, status, devices })
    }
  })
  return logged
}

type CommitAnswers = readonly (number | string)[]

/** The records of the commits in a call that were made. */
function* recordsOf(
  args: readonly string[],
  answers: readonly CommitAnswers[],
): Generator<StatusChangedRecord> {
  for (const [part, { args: fields }] of partsOf(args).entries()) {
    for (let a = 0; a < fields.length; a += COMMIT_FIELDS) {
      const text = fields[a + COMMIT_FIELDS - 1]!
      if (text !== '' && answers[part]![(a / COMMIT_FIELDS) * 3] !== 0) yield JSON.parse(text)
    }
  }
}
