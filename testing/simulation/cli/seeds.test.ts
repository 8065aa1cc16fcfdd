// Seeds of the simulation in `npm test`: the same ones every time, and a few new ones, whose number is printed when they
// fail. `npm run test:simulation` runs as many as you like.
import { describe, expect, test } from 'bun:test'
import { namedPlans } from '../run/named-plans.ts'
import { type Plan, planOf } from '../run/plan.ts'
import { runPlan } from '../run/run-plan.ts'
import { describeFailure } from './report.ts'

const SEEDS_PER_TEST = 12
/** Few: about one seed in 10,000 still finds something, which is then the next thing to mend. */
const FRESH_SEEDS = 10
const FRESH_FROM = Math.floor(Math.random() * 4_000_000) * 1_000
const TEST_MS_MAX = 300_000

function expectKept(plan: Plan): void {
  const result = runPlan({ plan })
  if (result.violations.length > 0) throw new Error(describeFailure({ plan, result, isShrunk: false }).text)
}

describe('[B1] [B2] [B3] [B4] [B5] [B6] [B7] [B8] every bound holds', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
    '[X1] for the seeds of part %d',
    (part) => {
      for (let seed = 0; seed < SEEDS_PER_TEST; seed++) expectKept(planOf(part * SEEDS_PER_TEST + seed))
    },
    TEST_MS_MAX,
  )

  test(
    `[X1] for new seeds, from ${FRESH_FROM}`,
    () => {
      for (let seed = 0; seed < FRESH_SEEDS; seed++) expectKept(planOf(FRESH_FROM + seed))
    },
    TEST_MS_MAX,
  )

  test.each(namedPlans())('[X1] for the plan that found: $found', ({ plan }) => expectKept(plan), TEST_MS_MAX)
})

test('[X1] the same seed is the same run', () => {
  for (const seed of [3, 10, 63]) {
    const [first, second] = [runPlan({ plan: planOf(seed) }), runPlan({ plan: planOf(seed) })]
    expect([second.hash, second.events]).toEqual([first.hash, first.events])
    expect(second.history.sightings).toEqual(first.history.sightings)
  }
  const hashes = new Set([1, 2, 3, 4].map((seed) => runPlan({ plan: planOf(seed) }).hash))
  expect(hashes.size).toBe(4)
})
