// Redis does not answer for a while and then does again, with all it had. Meanwhile everybody is let in,
// nobody sees a change, queries are answered from SQL and say so. People who went, came or changed
// during the outage are seen as they are soon after it.

import { GHOST_MS_MAX } from '../deployment.ts'
import { type FaultCase, setScene } from '../fixture.ts'
import { sampleQueries } from '../queries.ts'

const STIRRED_PER_SECOND = 20
const OUTAGE_MS = 30_000
const OUTAGE_QUICK_MS = 8_000
const HEAL_MS_MAX = 5_000
/** Commands are given up after 1.5 s, and a connection that has not been found dead yet after 2 s. */
const NOTICED_MS = 3_500
const ARRIVAL_MS_MAX = 10_000
const ANSWER_MS_MAX = 3_000

export const redisUnreachable: FaultCase = {
  name: 'Redis does not answer for 30 s',
  expectation: 'let in, degraded answers, no flicker; all true within 5 s of its return',
  async run(context) {
    const some = Math.ceil(context.users / 50)
    const scene = await setScene(context, { newcomers: some })
    const { world, crowd, checker, still, lively, newcomers, take } = scene
    const problems: string[] = []
    try {
      const outageMs = context.isQuick ? OUTAGE_QUICK_MS : OUTAGE_MS
      checker.begin(outageMs + GHOST_MS_MAX['cut off'])
      const calm = crowd.stir(lively, STIRRED_PER_SECOND)
      await Bun.sleep(1_000)
      context.say('stopping Redis where it is')
      const stoppedAt = performance.now()
      await world.redis().kill('SIGSTOP')
      const samplings = [world.gateways[0]!, world.presences[0]!].map(({ url }) => sampleQueries(url, still))
      await Bun.sleep(500)
      for (const how of ['left', 'closed', 'silent'] as const) crowd.depart(take(still, some), how)
      const arrivedFrom = performance.now()
      await crowd.arrive(newcomers)
      const arrivalMs = performance.now() - arrivedFrom
      if (arrivalMs > ARRIVAL_MS_MAX) problems.push(`letting people in took ${Math.round(arrivalMs)} ms`)
      for (const person of take(still, some)) crowd.say(person, 'meanwhile')
      await Bun.sleep(Math.max(0, stoppedAt + outageMs - 1_000 - performance.now()))
      for (const how of ['left', 'closed'] as const) crowd.depart(take(still, some), how)
      calm()
      await Bun.sleep(1_000)
      const samples = samplings.flatMap((sampling) => sampling.stop())
      const refused = samples.filter(({ code, tookMs }) => code !== 200 || tookMs > ANSWER_MS_MAX)
      if (refused.length > 0) problems.push(`${refused.length} of ${samples.length} queries failed or hung`)
      const late = samples.filter(({ at, isDegraded }) => at > stoppedAt + NOTICED_MS && !isDegraded)
      if (late.length > 0) problems.push(`${late.length} answers did not say that they are degraded`)
      context.say(`letting Redis go on after ${((performance.now() - stoppedAt) / 1000).toFixed(1)} s`)
      await world.redis().kill('SIGCONT')
      const waitedMs = performance.now() - stoppedAt + HEAL_MS_MAX
      const ghostMsMax = { left: waitedMs, closed: waitedMs, silent: waitedMs }
      const degraded = samples.filter(({ isDegraded }) => isDegraded).length
      const notes = [
        `${newcomers.length} let in within ${Math.round(arrivalMs)} ms, ${degraded} of ${samples.length} answers degraded`,
      ]
      return await scene.conclude({ healMsMax: HEAL_MS_MAX, ghostMsMax, problems, notes })
    } finally {
      await world.redis().kill('SIGCONT')
      await scene.stop()
    }
  },
}
