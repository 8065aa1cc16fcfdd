// Makes a plan that fails smaller: fewer faults, users, steps and viewers, and less time, as long as the same check
// still fails. What is left is what the failure needs, and short enough to be read.
import type { Plan, Step } from '../run/plan.ts'

/** Runs that shrinking may take. */
const RUNS_MAX = 150
const TAIL_MS = 1_000

export interface Shrunk {
  plan: Plan
  runs: number
}

export function shrink(plan: Plan, isFailing: (plan: Plan) => boolean): Shrunk {
  let smallest = plan
  let runs = 0
  for (let isSmaller = true; isSmaller && runs < RUNS_MAX; ) {
    isSmaller = false
    for (const candidate of candidatesOf(smallest)) {
      if (runs >= RUNS_MAX) break
      runs++
      if (!isFailing(candidate)) continue
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return { plan: smallest, runs }
}

/** Smaller plans, the ones that leave out most first. */
function* candidatesOf(plan: Plan): Generator<Plan> {
  const { faults, steps, users, viewers, firstViewers } = plan
  for (const half of halvesOf(faults)) yield { ...plan, faults: half }
  for (let user = users.length - 1; user >= 0 && users.length > 1; user--) yield withoutUser(plan, user)
  for (const half of halvesOf(steps)) yield { ...plan, steps: half }
  if (viewers.length > firstViewers)
    yield {
      ...plan,
      viewers: viewers.slice(0, firstViewers),
      steps: steps.filter((step) => step.who === 'user' || step.viewer < firstViewers),
    }
  for (const [index, user] of users.entries())
    if (user.choices.length > 0) yield { ...plan, users: users.with(index, { ...user, choices: [] }) }
  const lastAt = Math.max(0, ...faults.map(({ at, forMs }) => at + forMs), ...steps.map(({ at }) => at))
  if (lastAt + TAIL_MS < plan.activeMs) yield { ...plan, activeMs: lastAt + TAIL_MS }
}

/** The list without each of its halves, then without each single entry. */
function* halvesOf<T>(list: readonly T[]): Generator<T[]> {
  if (list.length > 3) {
    const middle = Math.floor(list.length / 2)
    yield list.slice(0, middle)
    yield list.slice(middle)
  }
  for (let index = list.length - 1; index >= 0; index--) yield list.toSpliced(index, 1)
}

function withoutUser(plan: Plan, gone: number): Plan {
  const steps = plan.steps.flatMap((step): Step[] => {
    if (step.who === 'viewer') return [step]
    if (step.user === gone) return []
    return [step.user > gone ? { ...step, user: step.user - 1 } : step]
  })
  return { ...plan, users: plan.users.toSpliced(gone, 1), steps }
}
