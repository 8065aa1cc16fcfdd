// One random run: all users connect, users and faults follow the plan, and the world is judged after it.
import type { Postgres } from '../../../services/postgres.ts'
import type { Violation } from '../checks/violation.ts'
import { causeFault } from '../faults/cause-fault.ts'
import type { History } from '../history/history.ts'
import { ACTIVE_MS, type Plan, type Step } from '../plan/plan.ts'
import { startWorld, type World } from './world.ts'

export interface SeedResult {
  history: History
  violations: Violation[]
  lagMs: number
}

export async function runSeed(plan: Plan, postgres: Postgres): Promise<SeedResult> {
  const world = await startWorld(plan, postgres)
  const { history } = world
  try {
    const violations = await world.begin()
    if (violations.length === 0) {
      await follow(plan, world)
      violations.push(...(await world.quiet()))
      violations.push(...(await world.finish()))
    }
    return { history, violations, lagMs: world.lagMs() }
  } finally {
    await world.stop()
  }
}

async function follow({ steps, faults }: Plan, world: World): Promise<void> {
  const startedAt = performance.now()
  const caused = faults.map(async (fault) => {
    await Bun.sleep(fault.at)
    await causeFault(fault, world)
  })
  for (const step of steps) {
    await Bun.sleep(Math.max(0, startedAt + step.at - performance.now()))
    take(step, world)
  }
  await Bun.sleep(Math.max(0, startedAt + ACTIVE_MS - performance.now()))
  await Promise.all(caused)
}

function take(step: Step, { people, viewers, enter }: World): void {
  if (step.who === 'user') people[step.user]!.act(step.action)
  else if (step.action === 'arrive') enter(viewers[step.viewer]!)
  else viewers[step.viewer]!.peer.reconnect()
}
