// One run: all users connect, users and faults follow the plan, everything becomes quiet, all leave. The checks are asked
// in between and at the end.
import { checkFalseOffline } from '../../faults/random/checks/false-offline.ts'
import { checkPrivacy } from '../../faults/random/checks/privacy.ts'
import { checkVersions } from '../../faults/random/checks/versions.ts'
import type { Violation } from '../../faults/random/checks/violation.ts'
import type { History } from '../../faults/random/history/history.ts'
import { type Answered, checkAgreement } from '../checker/agreement.ts'
import { allowancesOf } from '../checker/bounds.ts'
import { checkGhosts } from '../checker/ghosts.ts'
import { query } from '../clients/requests.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

const ANSWERS_MS_MAX = 20_000

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
  world.begin()
  timeline.runUntil(timeline.now() + bounds.startMs)
  history.agreedAt = timeline.now()
  found.push(...agreement(world))
  if (found.length > 0) return found
  world.follow()
  timeline.runUntilTrue(
    () =>
      people.every((person) => person.isSettled()) && history.faults.every(({ to }) => Number.isFinite(to)),
    timeline.now() + 60_000,
  )
  history.remark('quiet')
  timeline.runUntil(allowances().until(timeline.now() + bounds.ghostMs.silent + bounds.cacheMs))
  found.push(...agreement(world))
  world.leave()
  timeline.runUntil(allowances().until(timeline.now() + bounds.ghostMs.silent + bounds.cacheMs))
  found.push(...agreement(world))
  world.stopWatching()
  const final = allowances()
  found.push(
    ...checkVersions(history),
    ...checkFalseOffline(history, final),
    ...checkPrivacy(only(history, 'pushed'), bounds.visibleMs),
    ...checkPrivacy(only(history, 'asked'), bounds.visibleMs + bounds.cacheMs),
    ...checkGhosts(history, people, final, bounds, timeline.now()),
  )
  return found
}

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
