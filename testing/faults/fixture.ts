// The fixture of most fault tests: a deployment, simulated users and a checker. The verdict at the end is the
// same for every fault: no false transition, no ghost for longer than its bound, healed in time, and at the
// end all watchers have the true states.
import type { Found } from '../services/found.ts'
import type { Postgres } from '../services/postgres.ts'
import { until } from '../services/within.ts'
import { type Checker, createChecker, type Ghost } from './checker.ts'
import type { ShownState } from './client.ts'
import {
  type Deployment,
  type DeploymentOptions,
  GHOST_MS_MAX,
  startDeployment,
  TIMES,
  WATCH_LIMIT,
} from './deployment.ts'
import { wrongAnswers } from './queries.ts'
import { createSimulatedUsers, type Departure, type SimulatedUsers, type User } from './users.ts'

const AGREE_MS_MAX = 30_000
const SETTLE_MS = 2_500
const EXAMPLES_MAX = 3

export interface FaultContext {
  userCount: number
  contacts: number
  isQuick: boolean
  postgres: Postgres
  say(line: string): void
}

export interface FaultCase {
  name: string
  /** What must hold, in one sentence. */
  expectation: string
  /** What the case cannot do without, beyond Redis and PostgreSQL. Where it is missing the case is skipped. */
  needs?(): Promise<Found>
  run(context: FaultContext): Promise<Outcome>
}

export interface Outcome {
  userCount: number
  /** Null where this fault does not measure it. */
  falseTransitions: number | null
  worstGhostMs: number | null
  ghostMsMax: number | null
  healMs: number | null
  healMsMax: number | null
  disagreements: number | null
  notes: string[]
  /** What is not as expected; none means passed. */
  problems: string[]
}

export interface Fixture {
  deployment: Deployment
  users: SimulatedUsers
  checker: Checker
  /** Users that never change by themselves, and the other users. */
  steady: readonly User[]
  changing: readonly User[]
  /** Users that were not connected at the beginning. */
  newcomers: readonly User[]
  /** Picks that many connected users that were not picked before. */
  pick(from: readonly User[], count: number): User[]
  /** To be called when the fault has ended: waits until all watchers agree, then checks everything. */
  verdict(expected: Expected): Promise<Outcome>
  stop(): Promise<void>
}

export interface Expected {
  healMsMax: number
  /** Other bounds than the usual ones, by kind of departure. */
  ghostMsMax?: Partial<Record<Departure, number>>
  notes?: string[]
  problems?: string[]
}

export interface FixtureOptions extends Omit<DeploymentOptions, 'postgres'> {
  /** How many of the users connect later. */
  newcomers?: number
  onState?(about: User, state: ShownState, watcher: User): void
}

export async function startFixture(context: FaultContext, options: FixtureOptions = {}): Promise<Fixture> {
  const { userCount, contacts, say, postgres } = context
  const { newcomers = 0, onState, ...deploymentOptions } = options
  const deployment = await startDeployment({ postgres, ...deploymentOptions })
  const beatMs = TIMES.heartbeat_interval_ms
  const checker = createChecker({ urls: deployment.gatewayUrls, watchLimit: WATCH_LIMIT, beatMs })
  const users = createSimulatedUsers({
    count: userCount,
    contacts,
    beatMs,
    urls: deployment.gatewayUrls,
    onState(about, state, before, watcher) {
      checker.check(about, state, before, watcher.id)
      onState?.(about, state, watcher)
    },
    onDeparture: checker.departed,
  })

  async function stop(): Promise<void> {
    checker.stop()
    users.stop()
    await deployment.stop()
  }

  try {
    const startedAt = performance.now()
    await users.connect(users.all.slice(0, userCount - newcomers))
    await checker.watch(users)
    const agreed = await users.waitForAgreement(AGREE_MS_MAX)
    if (agreed === null) throw new Error(`watchers did not agree before the fault: ${describe(users)}`)
    say(
      `${userCount - newcomers} users are connected, after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
    )
  } catch (error) {
    await stop()
    throw error
  }

  const picked = new Set<User>()
  const isChanging = ({ index }: User) => index % 5 === 0

  return {
    deployment,
    users,
    checker,
    steady: users.all.filter((user) => !isChanging(user)),
    changing: users.all.filter(isChanging),
    newcomers: users.all.slice(userCount - newcomers),
    pick(from, count) {
      const found = from.filter((user) => !picked.has(user) && user.client.isReady()).slice(0, count)
      if (found.length < count) throw new Error(`only ${found.length} of ${count} users are left to pick`)
      for (const user of found) picked.add(user)
      return found
    },
    async verdict({ healMsMax, ghostMsMax = {}, notes = [], problems: known = [] }) {
      const problems = [...known]
      const healMs = await users.waitForAgreement(AGREE_MS_MAX)
      if (healMs === null)
        problems.push(`watchers did not agree within ${AGREE_MS_MAX / 1000} s: ${describe(users)}`)
      else if (healMs > healMsMax) problems.push(`healed after ${Math.round(healMs)} ms, not ${healMsMax}`)
      await Bun.sleep(SETTLE_MS)
      const left = users.disagreements()
      if (left.length > 0) problems.push(`${left.length} disagreements at the end: ${describe(users)}`)
      if (!users.isComplete()) problems.push('not all users have reconnected')
      for (const one of [...deployment.gateways, ...deployment.presences].filter((each) =>
        each.isRunning(),
      )) {
        const wrong = await wrongAnswers(one.url, users.all)
        if (wrong.length > 0) problems.push(`${wrong.length} wrong answers over HTTP: ${wrong[0]}`)
      }
      const falseTransitions = checker.falseTransitions()
      if (falseTransitions.length > 0) problems.push(`false transitions: ${checker.examples().join('; ')}`)
      const bounds = { ...GHOST_MS_MAX, ...ghostMsMax }
      const ghosts = checker.ghosts()
      problems.push(...lateGhosts(ghosts, bounds))
      const worst = worstOf(ghosts, bounds)
      return {
        userCount,
        falseTransitions: falseTransitions.length,
        worstGhostMs: worst?.ms ?? null,
        ghostMsMax: worst?.msMax ?? null,
        healMs,
        healMsMax,
        disagreements: left.length,
        notes: [`${checker.transitions()} transitions`, ...notes],
        problems,
      }
    },
    stop,
  }
}

/** Ghosts that were shown for longer than their bound, as texts. */
export function lateGhosts(ghosts: readonly Ghost[], bounds: Record<Departure, number>): string[] {
  const late = ghosts.filter(({ how, goneAt, seenAt }) => seenAt === null || seenAt - goneAt > bounds[how])
  return late.slice(0, EXAMPLES_MAX).map(({ user, how, goneAt, seenAt }) => {
    const when = seenAt === null ? 'never' : `after ${Math.round(seenAt - goneAt)} ms`
    return `a ghost (${late.length} in all): ${user.id} (${how}) was shown as offline ${when}, not within ${bounds[how]}`
  })
}

/** The ghost that came closest to its bound, or went furthest beyond it. */
function worstOf(ghosts: readonly Ghost[], bounds: Record<Departure, number>) {
  let worst: { ms: number; msMax: number } | null = null
  for (const { how, goneAt, seenAt } of ghosts) {
    const ms = (seenAt ?? Number.POSITIVE_INFINITY) - goneAt
    if (worst === null || ms / bounds[how] > worst.ms / worst.msMax) worst = { ms, msMax: bounds[how] }
  }
  return worst
}

function describe(users: SimulatedUsers): string {
  const all = users.disagreements()
  const some = all.slice(0, EXAMPLES_MAX).map(({ watcher, about, shown, truth }) => {
    const what = shown === undefined ? 'nothing' : `${shown.status} ${shown.text} v${shown.version}`
    return `${watcher} was shown ${about} as ${what}, true is ${truth.status} ${truth.text}`
  })
  return `${all.length}: ${some.join('; ')}`
}

/** Waits until all users that should be connected are. */
export const allReconnected = (users: SimulatedUsers, msMax: number): Promise<void> =>
  until(msMax, 'the reconnect of all users', async () => users.isComplete())
