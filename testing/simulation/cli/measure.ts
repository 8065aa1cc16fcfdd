// How long users who are gone stay visible around one fault, with the lease and delay that `npm run test:faults` measures
// real processes with. For the table in docs/simulation.md that has both.
import { viewsOf } from '../../faults/random/history/views.ts'
import { boundsOf, ghostAllowancesOf } from '../checker/bounds.ts'
import type { FaultKind } from '../faults/plan-faults.ts'
import { type Plan, planOf, type Step } from '../run/plan.ts'
import { type RunResult, runPlan } from '../run/run-plan.ts'
import { randomOf } from '../time/random.ts'

const FAULT_AT = 6_000
const ACTIVE_MS = 12_000
/** Users leave up to this long before and after the fault begins. */
const AROUND_MS = 1_000

export interface Measured {
  kind: FaultKind
  /** The longest, and what that one was allowed. */
  ghostMs: number
  boundMs: number
}

export function measure(kind: FaultKind, forMs: number, seeds: number): Measured {
  const worst: Measured = { kind, ghostMs: 0, boundMs: 0 }
  for (let seed = 1; seed <= seeds; seed++) {
    const plan = planWith(kind, forMs, seed)
    for (const { ghostMs, boundMs } of ghostsOf(plan, runPlan({ plan })))
      if (ghostMs > worst.ghostMs) Object.assign(worst, { ghostMs, boundMs })
  }
  return worst
}

function planWith(kind: FaultKind, forMs: number, seed: number): Plan {
  const plan = planOf(seed)
  const random = randomOf(seed, 'measure')
  const users = plan.users.map((user) => ({ ...user, devices: 1, choices: [] }))
  const leaves = users.flatMap((_, user): Step[] => {
    // With the gateway its clients are gone.
    if (user % 3 === 0 || kind === 'gateway crashed with its clients') return []
    const at = FAULT_AT + random.between(-AROUND_MS, AROUND_MS)
    return [{ at, who: 'user', user, action: { do: 'end', device: 0, how: 'closed' } }]
  })
  const arrivals = plan.steps.filter(({ who, at }) => who === 'viewer' && at < ACTIVE_MS)
  return {
    ...plan,
    settings: {
      ...plan.settings,
      deployment: 'shared',
      gateways: 2,
      presences: 2,
      offlineDelayMs: 1_500,
      lingerMs: 0,
      onlineDelayMs: 0,
      leaseMs: 3_000,
      defaultVisibility: 'everyone',
    },
    users,
    activeMs: ACTIVE_MS,
    steps: [...arrivals, ...leaves].sort((a, b) => a.at - b.at),
    faults: [{ kind, at: FAULT_AT, forMs, which: seed, amount: 0.5 }],
  }
}

/** Of each user who left around the fault: how long the last watcher showed it, and how long that was allowed. */
function ghostsOf({ settings }: Plan, { history }: RunResult): Omit<Measured, 'kind'>[] {
  const bounds = boundsOf(settings)
  const allowances = ghostAllowancesOf(history.faults, bounds)
  const [fault] = history.faults
  const views = viewsOf(history)
  return [...history.targets.values()].flatMap((target) => {
    const left = target.isPresent
      .stretches()
      .find(({ value, from }) => !value && Math.abs(from - fault!.from) <= AROUND_MS)
    if (left === undefined) return []
    const isKilled = fault!.name === 'gateway crashed with its clients'
    const dueAt = left.from + (isKilled ? bounds.ghostMs.lost : bounds.ghostMs.closed)
    const shownTo = history.watchings.flatMap(({ viewer }) =>
      (views.get(`${viewer} ${target.id}`) ?? []).flatMap(({ sighting, from, to }) =>
        sighting.status !== 'offline' && sighting.status !== null && from < left.to && to > left.from
          ? [to]
          : [],
      ),
    )
    if (shownTo.length === 0) return []
    return [{ ghostMs: Math.max(...shownTo) - left.from, boundMs: allowances.until(dueAt) - left.from }]
  })
}
