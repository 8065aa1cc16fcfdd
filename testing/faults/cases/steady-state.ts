// Nothing is broken and no user changes: all clients only send heartbeats. The commands to Redis must then
// grow with the number of processes and with time, never with the number of users.
import type { Redis } from '../../services/redis.ts'
import { type FaultCase, startFixture } from '../fixture.ts'

const FEW = 1_000
const MANY = 10_000
const FEW_QUICK = 100
const MANY_QUICK = 1_000
const STRETCH_FEW_MS = 20_000
const STRETCH_MANY_MS = 60_000
const STRETCH_QUICK_MS = 5_000
/** For work that connects started. */
const SETTLE_MS = 3_000
/** Sweeps do not divide evenly into the measured time. */
const TOLERANCE = 1.05

export const steadyState: FaultCase = {
  name: 'nothing breaks, users only send heartbeats',
  expectation: 'commands to Redis grow with processes and time, not with users',
  async run(context) {
    const { isQuick } = context
    const [few, many] = isQuick ? [FEW_QUICK, MANY_QUICK] : [FEW, MANY]
    const fixture = await startFixture({ ...context, userCount: many }, { newcomers: many - few })
    const { deployment, users, checker, newcomers } = fixture
    const problems: string[] = []
    try {
      const redis = deployment.redis()
      await Bun.sleep(SETTLE_MS)
      const first = await commandsPerSecond(redis, isQuick ? STRETCH_QUICK_MS : STRETCH_FEW_MS)
      const startedAt = performance.now()
      await users.connect(newcomers)
      if ((await users.waitForAgreement(30_000)) === null)
        problems.push('watchers did not agree after the connects')
      context.say(
        `${newcomers.length} more users connected in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
      )
      await Bun.sleep(SETTLE_MS)
      checker.begin(0)
      const second = await commandsPerSecond(redis, isQuick ? STRETCH_QUICK_MS : STRETCH_MANY_MS)
      const notes = [
        `${few} users: ${first.total.toFixed(1)} commands a second; ${many} users: ${second.total.toFixed(1)}`,
      ]
      if (second.total > first.total * TOLERANCE) {
        const grown = [...second.byName]
          .filter(([name, rate]) => rate > (first.byName.get(name) ?? 0) * TOLERANCE + 0.2)
          .map(([name, rate]) => `${name} ${(first.byName.get(name) ?? 0).toFixed(1)} -> ${rate.toFixed(1)}`)
        problems.push(`more commands with more users: ${grown.join(', ')}`)
      }
      if (checker.transitions() > 0)
        problems.push(`${checker.transitions()} transitions, and no user changed`)
      return await fixture.verdict({ healMsMax: 1_000, notes, problems })
    } finally {
      await fixture.stop()
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

/** Calls of every command except our own INFO. */
async function commandCounts(redis: Redis): Promise<Map<string, number>> {
  const info = await redis.cli('INFO', 'commandstats')
  const counts = Array.from(info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm), ([, name, calls]) => {
    return [name!, Number(calls)] as const
  })
  return new Map(counts.filter(([name]) => name !== 'info'))
}
