// Nothing is broken and nobody changes: everybody beats. What Redis is asked then must depend on how
// many processes there are and how long it takes, never on how many people there are.
import type { Redis } from '../../services/redis.ts'
import { type FaultCase, setScene } from '../fixture.ts'

const FEW = 1_000
const MANY = 10_000
const FEW_QUICK = 100
const MANY_QUICK = 1_000
const STRETCH_FEW_MS = 20_000
const STRETCH_MANY_MS = 60_000
const STRETCH_QUICK_MS = 5_000
/** After arrivals, for whatever they started. */
const SETTLE_MS = 3_000
/** Rounds do not divide evenly into stretches. */
const TOLERANCE = 1.05

export const steadyState: FaultCase = {
  name: 'nothing breaks, everybody beats',
  expectation: 'commands to Redis grow with processes and time, not with people',
  async run(context) {
    const { isQuick } = context
    const [few, many] = isQuick ? [FEW_QUICK, MANY_QUICK] : [FEW, MANY]
    const scene = await setScene({ ...context, users: many }, { newcomers: many - few })
    const { world, crowd, checker, newcomers } = scene
    const problems: string[] = []
    try {
      const redis = world.redis()
      await Bun.sleep(SETTLE_MS)
      const first = await commandsPerSecond(redis, isQuick ? STRETCH_QUICK_MS : STRETCH_FEW_MS)
      const startedAt = performance.now()
      await crowd.arrive(newcomers)
      if ((await crowd.agreement(30_000)) === null) problems.push('no agreement after the arrivals')
      context.say(`${newcomers.length} more came in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
      await Bun.sleep(SETTLE_MS)
      checker.begin(0)
      const second = await commandsPerSecond(redis, isQuick ? STRETCH_QUICK_MS : STRETCH_MANY_MS)
      const notes = [
        `${few} people: ${first.total.toFixed(1)} commands a second; ${many} people: ${second.total.toFixed(1)}`,
      ]
      if (second.total > first.total * TOLERANCE) {
        const grown = [...second.byName]
          .filter(([name, rate]) => rate > (first.byName.get(name) ?? 0) * TOLERANCE + 0.2)
          .map(([name, rate]) => `${name} ${(first.byName.get(name) ?? 0).toFixed(1)} -> ${rate.toFixed(1)}`)
        problems.push(`more commands with more people: ${grown.join(', ')}`)
      }
      if (checker.transitions() > 0) problems.push(`${checker.transitions()} transitions, and nobody changed`)
      return await scene.conclude({ healMsMax: 1_000, notes, problems })
    } finally {
      await scene.stop()
    }
  },
}

async function commandsPerSecond(redis: Redis, ms: number) {
  const startedAt = performance.now()
  const before = await commandCounts(redis)
  await Bun.sleep(ms)
  const after = await commandCounts(redis)
  const seconds = (performance.now() - startedAt) / 1000
  const byName = new Map(
    [...after].map(([name, calls]) => [name, (calls - (before.get(name) ?? 0)) / seconds]),
  )
  const total = [...byName.values()].reduce((sum, rate) => sum + rate, 0)
  return { byName, total }
}

/** Calls of every command but our own question. */
async function commandCounts(redis: Redis): Promise<Map<string, number>> {
  const said = await redis.cli('INFO', 'commandstats')
  const counts = Array.from(said.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm), ([, name, calls]) => {
    return [name!, Number(calls)] as const
  })
  return new Map(counts.filter(([name]) => name !== 'info'))
}
