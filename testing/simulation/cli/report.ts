// A failure as it is read: the command that replays it, the smallest plan that fails the same way, and the timeline of
// what the user did, what the viewer was shown and what was broken.
import { storyOf } from '../../faults/random/run/story.ts'
import type { Plan } from '../run/plan.ts'
import { type RunResult, runPlan } from '../run/run-plan.ts'
import { shrink } from '../shrink/shrink.ts'
import type { Planting } from '../world/ground.ts'

const STORIES_MAX = 2

const replayCommand = (seed: number, plant: string | null): string =>
  `npm run test:simulation -- --seed ${seed}${plant === null ? '' : ` --plant "${plant}"`}`

export interface Failure {
  plan: Plan
  result: RunResult
  plant?: (() => Planting) | undefined
  plantName?: string | null
  isShrunk: boolean
}

export interface Described {
  text: string
  /** The smallest that was found. */
  plan: Plan
}

export function describeFailure({
  plan: whole,
  result,
  plant,
  plantName = null,
  isShrunk,
}: Failure): Described {
  const { check } = result.violations[0]!
  const run = (plan: Plan) => runPlan({ plan, ...(plant && { plant }) })
  const fails = (plan: Plan) => run(plan).violations.some((violation) => violation.check === check)
  const { plan, runs } = isShrunk ? shrink(whole, fails) : { plan: whole, runs: 0 }
  const { violations, history } = run(plan)
  const shown = violations.filter((violation) => violation.check === check)
  const lines = [
    `seed ${plan.seed} fails: ${replayCommand(plan.seed, plantName)}`,
    isShrunk ? `shrunk in ${runs} runs to ${describePlan(plan)}` : describePlan(plan),
    `settings ${JSON.stringify(plan.settings)}`,
    ...shown.slice(0, STORIES_MAX).map((violation) => storyOf(history, violation)),
    ...(shown.length > STORIES_MAX ? [`and ${shown.length - STORIES_MAX} more of the same check`] : []),
  ]
  return { text: lines.join('\n'), plan }
}

export function describePlan({ users, viewers, steps, faults, activeMs }: Plan): string {
  const broken = faults.map(
    ({ kind, at, forMs }) => `${kind} at ${(at / 1000).toFixed(2)} s for ${(forMs / 1000).toFixed(2)} s`,
  )
  const counts = `${users.length} users, ${viewers.length} viewers, ${steps.length} steps in ${(activeMs / 1000).toFixed(1)} s`
  return broken.length === 0 ? `${counts}, no faults` : `${counts}; ${broken.join(', ')}`
}
