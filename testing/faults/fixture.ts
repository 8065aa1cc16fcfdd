// The stage of most fault tests: a world, a crowd in it and a checker, all quiet to begin with; and at
// the end the verdict, which is the same for every fault: nothing false was seen, nobody was a ghost
// for longer than promised, it healed in time, and once all is quiet everybody believes the truth.
import type { Postgres } from '../services/postgres.ts'
import { until } from '../services/within.ts'
import { type Checker, createChecker, type Ghost } from './checker.ts'
import type { Belief } from './client.ts'
import { createWorld, GHOST_MS_MAX, TIMES, WATCH_LIMIT, type World, type WorldOptions } from './deployment.ts'
import { wrongAnswers } from './queries.ts'
import { type Crowd, createCrowd, type Departure, type Person } from './users.ts'

const CALM_MS_MAX = 30_000
const QUIESCENT_MS = 2_500
const EXAMPLES_MAX = 3

export interface FaultContext {
  users: number
  contacts: number
  isQuick: boolean
  postgres: Postgres
  say(line: string): void
}

export interface FaultCase {
  name: string
  /** What is expected, in a sentence. */
  expectation: string
  run(context: FaultContext): Promise<Outcome>
}

export interface Outcome {
  users: number
  /** Null where it is not a matter of this fault. */
  falseSightings: number | null
  worstGhostMs: number | null
  ghostMsMax: number | null
  healMs: number | null
  healMsMax: number | null
  disagreements: number | null
  notes: string[]
  /** What is not as expected; none means passed. */
  problems: string[]
}

export interface Scene {
  world: World
  crowd: Crowd
  checker: Checker
  /** A part of the crowd that never changes by itself, and the rest. */
  still: readonly Person[]
  lively: readonly Person[]
  /** Those who were not here at the beginning. */
  newcomers: readonly Person[]
  /** Takes so many of these people, others every time, and only such who are connected. */
  take(from: readonly Person[], count: number): Person[]
  /** Waits for agreement after the fault ended just now, then for quiet, and gives the verdict. */
  conclude(expected: Expected): Promise<Outcome>
  stop(): Promise<void>
}

export interface Expected {
  healMsMax: number
  /** Other bounds than the usual ones, by how people went. */
  ghostMsMax?: Partial<Record<Departure, number>>
  notes?: string[]
  problems?: string[]
}

export interface SceneOptions extends Omit<WorldOptions, 'postgres'> {
  /** How many of the crowd come later. */
  newcomers?: number
  onBelief?(about: Person, belief: Belief, watcher: Person): void
}

export async function setScene(context: FaultContext, options: SceneOptions = {}): Promise<Scene> {
  const { users, contacts, say, postgres } = context
  const { newcomers = 0, onBelief, ...worldOptions } = options
  const world = await createWorld({ postgres, ...worldOptions })
  const beatMs = TIMES.heartbeat_interval_ms
  const checker = createChecker({ urls: world.gatewayUrls, watchLimit: WATCH_LIMIT, beatMs })
  const crowd = createCrowd({
    users,
    contacts,
    beatMs,
    urls: world.gatewayUrls,
    onBelief(about, belief, before, watcher) {
      checker.judge(about, belief, before, watcher.id)
      onBelief?.(about, belief, watcher)
    },
    onDeparture: checker.departed,
  })

  async function stop(): Promise<void> {
    checker.stop()
    crowd.stop()
    await world.stop()
  }

  try {
    const startedAt = performance.now()
    await crowd.arrive(crowd.people.slice(0, users - newcomers))
    await checker.watch(crowd)
    const agreed = await crowd.agreement(CALM_MS_MAX)
    if (agreed === null) throw new Error(`no agreement before the fault: ${describe(crowd)}`)
    say(
      `${users - newcomers} people are here, after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    )
  } catch (error) {
    await stop()
    throw error
  }

  const taken = new Set<Person>()
  const isLively = ({ index }: Person) => index % 5 === 0

  return {
    world,
    crowd,
    checker,
    still: crowd.people.filter((person) => !isLively(person)),
    lively: crowd.people.filter(isLively),
    newcomers: crowd.people.slice(users - newcomers),
    take(from, count) {
      const found = from.filter((person) => !taken.has(person) && person.client.isReady()).slice(0, count)
      if (found.length < count) throw new Error(`only ${found.length} of ${count} people are left to take`)
      for (const person of found) taken.add(person)
      return found
    },
    async conclude({ healMsMax, ghostMsMax = {}, notes = [], problems: known = [] }) {
      const problems = [...known]
      const healMs = await crowd.agreement(CALM_MS_MAX)
      if (healMs === null) problems.push(`no agreement within ${CALM_MS_MAX / 1000} s: ${describe(crowd)}`)
      else if (healMs > healMsMax) problems.push(`healed after ${Math.round(healMs)} ms, not ${healMsMax}`)
      await Bun.sleep(QUIESCENT_MS)
      const left = crowd.disagreements()
      if (left.length > 0) problems.push(`${left.length} disagreements at the end: ${describe(crowd)}`)
      if (!crowd.isComplete()) problems.push('not everybody who wants to be connected is')
      for (const one of [...world.gateways, ...world.presences].filter((each) => each.isRunning())) {
        const wrong = await wrongAnswers(one.url, crowd.people)
        if (wrong.length > 0) problems.push(`${wrong.length} wrong answers over HTTP: ${wrong[0]}`)
      }
      const falseOnes = checker.falseSightings()
      if (falseOnes.length > 0) problems.push(`false: ${checker.examples().join('; ')}`)
      const bounds = { ...GHOST_MS_MAX, ...ghostMsMax }
      const ghosts = checker.ghosts()
      problems.push(...lateGhosts(ghosts, bounds))
      const worst = worstOf(ghosts, bounds)
      return {
        users,
        falseSightings: falseOnes.length,
        worstGhostMs: worst?.ms ?? null,
        ghostMsMax: worst?.msMax ?? null,
        healMs,
        healMsMax,
        disagreements: left.length,
        notes: [`${checker.transitions()} transitions seen`, ...notes],
        problems,
      }
    },
    stop,
  }
}

/** Who was shown for longer than they may be, in words. */
export function lateGhosts(ghosts: readonly Ghost[], bounds: Record<Departure, number>): string[] {
  const late = ghosts.filter(({ how, goneAt, seenAt }) => seenAt === null || seenAt - goneAt > bounds[how])
  return late.slice(0, EXAMPLES_MAX).map(({ person, how, goneAt, seenAt }) => {
    const when = seenAt === null ? 'never' : `after ${Math.round(seenAt - goneAt)} ms`
    return `a ghost (${late.length} in all): ${person.id} (${how}) was seen offline ${when}, not within ${bounds[how]}`
  })
}

/** The one that came closest to its bound, or went furthest beyond it. */
function worstOf(ghosts: readonly Ghost[], bounds: Record<Departure, number>) {
  let worst: { ms: number; msMax: number } | null = null
  for (const { how, goneAt, seenAt } of ghosts) {
    const ms = (seenAt ?? Number.POSITIVE_INFINITY) - goneAt
    if (worst === null || ms / bounds[how] > worst.ms / worst.msMax) worst = { ms, msMax: bounds[how] }
  }
  return worst
}

function describe(crowd: Crowd): string {
  const all = crowd.disagreements()
  const some = all.slice(0, EXAMPLES_MAX).map(({ watcher, about, believed, truth }) => {
    const what =
      believed === undefined ? 'nothing' : `${believed.status} ${believed.text} v${believed.version}`
    return `${watcher} believes ${about} ${what}, true is ${truth.status} ${truth.text}`
  })
  return `${all.length}: ${some.join('; ')}`
}

/** Waits until everybody who wants to is connected again. */
export const regathered = (crowd: Crowd, msMax: number): Promise<void> =>
  until(msMax, 'the return of everybody', async () => crowd.isComplete())
