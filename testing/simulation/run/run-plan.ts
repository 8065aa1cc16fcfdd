// One run: all users connect, users and faults follow the plan, everything becomes quiet, all leave. The checks are asked
// in between and at the end.
import { checkFalseOffline } from '../../faults/random/checks/false-offline.ts'
import { checkPrivacy } from '../../faults/random/checks/privacy.ts'
import { checkVersions } from '../../faults/random/checks/versions.ts'
import type { Violation } from '../../faults/random/checks/violation.ts'
import type { History } from '../../faults/random/history/history.ts'
import { type Answered, checkAgreement } from '../checker/agreement.ts'
import { allowancesOf, ghostAllowancesOf } from '../checker/bounds.ts'
import { checkArchived, checkChoices, checkHistory } from '../checker/durable.ts'
import { checkFlicker } from '../checker/flicker.ts'
import { checkGhosts } from '../checker/ghosts.ts'
import { checkForgotten, checkLeftovers } from '../checker/leftovers.ts'
import { checkStatuses } from '../checker/statuses.ts'
import { query } from '../clients/requests.ts'
import { LOST_MS_MAX } from '../faults/cause-fault.ts'
import type { FaultKind } from '../faults/plan-faults.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

const ANSWERS_MS_MAX = 20_000
const QUIET_MS_MAX = 90_000
/** To close everything after the drain. */
const STOP_MS_MAX = 10_000
const ALWAYS = { fromAt: 0, toAt: Number.MAX_SAFE_INTEGER, after: null, limit: 10_000 }
/** Then the change log has lost what it had. */
const LOSES_MEMORY: ReadonlySet<string> = new Set<FaultKind>([
  'store emptied',
  'node emptied',
  'node restarted empty',
  'node restarted',
  'failover',
])

export interface RunResult {
  violations: Violation[]
  history: History
  /** Of everything that happened. */
  hash: number
  virtualMs: number
  events: number
}

export function runPlan(options: WorldOptions): RunResult {
  const world = createWorld(options)
  const { timeline, history } = world
  const startedAt = timeline.now()
  const violations: Violation[] = []
  try {
    violations.push(...play(world))
  } catch (error) {
    violations.push({
      check: 'process',
      at: timeline.now(),
      what: String(error instanceof Error ? error.stack : error),
    })
  }
  world.end()
  return {
    violations,
    history,
    hash: timeline.hash(),
    virtualMs: timeline.now() - startedAt,
    events: timeline.events(),
  }
}

function play(world: World): Violation[] {
  const { timeline, history, people, bounds } = world
  const found: Violation[] = []
  const allowances = () => allowancesOf(history.faults, bounds)
  const goneMs = bounds.ghostMs.silent + bounds.cacheMs
  world.begin()
  timeline.runUntil(timeline.now() + bounds.startMs)
  history.agreedAt = timeline.now()
  found.push(...agreement(world))
  if (found.length > 0) return found
  world.follow()
  if (!timeline.runUntilTrue(() => isQuiet(world), timeline.now() + QUIET_MS_MAX))
    return [{ check: 'process', at: timeline.now(), what: 'a choice or a fault has no end' }]
  history.remark('quiet')
  timeline.runUntil(allowances().until(timeline.now() + goneMs))
  found.push(...agreement(world), ...choices(world))
  world.leave()
  timeline.runUntil(allowances().until(timeline.now() + goneMs))
  found.push(...agreement(world))
  world.stopWatching()
  timeline.runUntil(timeline.now() + bounds.ghostMs.closed + bounds.sweptMs)
  found.push(...remains(world), ...stopped(world))
  const final = allowances()
  const cached = { ...final, since: (now: number) => final.since(now - bounds.cacheMs) }
  return [
    ...found,
    ...checkVersions(history),
    ...checkFalseOffline(withoutReplaced(only(history, 'pushed')), final),
    ...checkFalseOffline(only(history, 'asked'), cached),
    ...checkFlicker(only(history, 'pushed'), people, final, world.plan.settings),
    ...checkFlicker(only(history, 'asked'), people, cached, world.plan.settings),
    ...checkStatuses(history, people, final, bounds.cacheMs),
    ...withoutLost(history, [
      ...checkPrivacy(only(history, 'pushed'), bounds.visibleMs),
      ...checkPrivacy(only(history, 'asked'), bounds.visibleMs + bounds.cacheMs),
    ]),
    ...checkGhosts(history, people, ghostAllowancesOf(history.faults, bounds), bounds, timeline.now()),
  ]
}

const isQuiet = ({ people, history, deployment }: World): boolean =>
  people.every((person) => person.isSettled()) &&
  history.faults.every(({ to }) => Number.isFinite(to)) &&
  deployment.serving().length === deployment.places

function choices({ history, ids, ground, timeline, settled }: World): Violation[] {
  const { database, settings } = ground
  const archived = settled(database.archive.read(ids), timeline.now() + ANSWERS_MS_MAX)
  return checkChoices(history, archived, settings, timeline.now())
}

/** Everything that is left when all users have gone. */
function remains(world: World): Violation[] {
  const { ground, deployment, ids, timeline, settled, logged, history } = world
  const until = timeline.now() + ANSWERS_MS_MAX
  const processes = deployment.serving()
  const { archive } = ground.database
  const found = checkLeftovers(ground.redis.nodes, processes, timeline.now())
  const archived = settled(archive.read(ids), until)
  const { store } = processes[0]!.pipeline()!
  const stored = settled(store.load(ids), until)
  found.push(...checkArchived(ids, stored, archived, timeline.now()))
  found.push(...settled(checkForgotten(store, ids, timeline.now()), until))
  // The memory of one process is not looked into.
  if (ground.settings.deployment === 'embedded') return found
  if (history.faults.some(({ name }) => LOSES_MEMORY.has(name))) return found
  for (const id of world.keepingHistory) {
    const kept = settled(archive.history.read(id, ALWAYS), until)
    found.push(...checkHistory(id, logged.get(id) ?? [], kept, timeline.now()))
  }
  return found
}

/** Every process ends in good order when it is asked to. */
function stopped({ deployment, timeline, ground }: World): Violation[] {
  const processes = deployment.serving()
  for (let place = 0; place < deployment.places; place++) void deployment.stop(place)
  const until = timeline.now() + ground.settings.drainMs + STOP_MS_MAX
  if (timeline.runUntilTrue(() => processes.every((process) => process.hasEnded()), until)) return []
  const late = processes.filter((process) => !process.hasEnded()).map(({ name }) => name)
  return [{ check: 'process', at: timeline.now(), what: `${late} did not end` }]
}

/**
 * A failover loses the last writes. Until gateways have read the choices of their users from the archive again, one that
 * was made in the moment before it is not known, and what an invisible user sets meanwhile is shown.
 */
function withoutLost(history: History, violations: readonly Violation[]): Violation[] {
  const failovers = history.faults.filter(({ name }) => name === 'failover' || name === 'node restarted')
  return violations.filter(({ at, target }) => {
    const { choices } = history.targets.get(target!)!
    return !failovers.some(
      ({ from, to }) =>
        at >= from && choices.some(({ answeredAt }) => answeredAt >= from - LOST_MS_MAX && answeredAt <= to),
    )
  })
}

/** Version 0 that comes in one frame with the present state takes a lost version back (B4). It is never on a screen. */
const withoutReplaced = (history: History): History => ({
  ...history,
  sightings: history.sightings.filter(({ version, at, viewer, target }, index) => {
    const next = history.sightings[index + 1]
    const isReplaced = next?.at === at && next.viewer === viewer && next.target === target
    return version !== 0 || !isReplaced
  }),
})

/** Answers may be cached, so they are held against another bound than what was pushed. */
const only = (history: History, how: 'pushed' | 'asked'): History => ({
  ...history,
  sightings: history.sightings.filter(({ via }) => (via === 'http') === (how === 'asked')),
})

/** Asks every process for every viewer, and looks at all screens. */
function agreement({ timeline, ground, deployment, people, viewers, ids, settled }: World): Violation[] {
  const asked = deployment.serving().flatMap((process) =>
    [...viewers].map(
      async (viewer): Promise<Answered> => ({
        by: process.name,
        viewer: viewer.id,
        answer: await query(ground, process, viewer.id, ids),
      }),
    ),
  )
  const answers = settled(Promise.all(asked), timeline.now() + ANSWERS_MS_MAX)
  return checkAgreement(people, viewers, answers, timeline.now())
}
