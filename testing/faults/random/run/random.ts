// `npm run test:faults -- --random 40`: as many random runs, one after the other. A run that breaks a promise prints
// the command that replays it and the story of each kind of violation.
import { startPostgres } from '../../../services/postgres.ts'
import { within } from '../../../services/within.ts'
import type { Violation } from '../checks/violation.ts'
import type { StoreKind } from '../deployment/store.ts'
import { planOf } from '../plan/plan.ts'
import { runSeed } from './run-seed.ts'
import { storyOf } from './story.ts'

const RUN_MS_MAX = 240_000
const STORIES_MAX = 2

export interface RandomOptions {
  count: number
  seed: number
  store: StoreKind
  hasKafka: boolean
}

/** Returns how many runs broke a promise. */
export async function runRandom({ count, seed: first, store, hasKafka }: RandomOptions): Promise<number> {
  let failed = 0
  const where = `${store}${hasKafka ? ' and Kafka' : ''}`
  const repeat = `--store ${store}${hasKafka ? ' --kafka' : ''}`
  let postgres = await startPostgres({ settings: { max_connections: '200' } })
  for (let seed = first; seed < first + count; seed++) {
    const plan = planOf(seed, store, hasKafka)
    const startedAt = performance.now()
    const about = plan.faults.map(({ kind, at, forMs }) => `${kind} at ${at} for ${forMs} ms`).join(', ')
    console.log(`seed ${seed}: ${plan.users.length} users, ${plan.serverCount} servers, ${where}; ${about}`)
    let problems: string[]
    let lagMs = 0
    try {
      const result = await within(RUN_MS_MAX, `seed ${seed}`, runSeed(plan, postgres))
      problems = describe(result.violations, (one) => storyOf(result.history, one))
      lagMs = result.lagMs
    } catch (error) {
      problems = [`the run broke: ${Bun.inspect(error)}`]
      await postgres.stop()
      postgres = await startPostgres({ settings: { max_connections: '200' } })
    }
    const tookS = Math.round((performance.now() - startedAt) / 1000)
    if (problems.length > 0) failed++
    for (const problem of problems) console.log(problem)
    console.log(
      problems.length === 0
        ? `  ok in ${tookS} s (lag ${Math.round(lagMs)} ms); ${seed - first + 1} of ${count}, ${failed} failed`
        : `  FAILED in ${tookS} s (lag ${Math.round(lagMs)} ms): npm run test:faults -- --random 1 --seed ${seed} ${repeat}`,
    )
  }
  await postgres.stop()
  console.log(`${count - failed} of ${count} random runs kept every promise`)
  return failed
}

/** For each check, how often it was violated and the stories of the first violations. */
function describe(violations: readonly Violation[], story: (violation: Violation) => string): string[] {
  const byCheck = Map.groupBy(violations, ({ check }) => check)
  return [...byCheck.entries()].flatMap(([check, all]) => [
    `  ${check}: ${all.length} violations`,
    ...all.slice(0, STORIES_MAX).map(story),
  ])
}
