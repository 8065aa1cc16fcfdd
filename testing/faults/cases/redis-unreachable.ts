// Redis does not answer for a while and then does again, with its data. Meanwhile users can connect, watchers
// see no change, and queries are answered from SQL and marked as degraded. Users that left, connected or
// changed during the outage are shown correctly soon after it.

import { GHOST_MS_MAX } from '../deployment.ts'
import { type FaultCase, startFixture } from '../fixture.ts'
import { sampleQueries } from '../queries.ts'

const CHANGES_PER_SECOND = 20
const OUTAGE_MS = 30_000
const OUTAGE_QUICK_MS = 8_000
const HEAL_MS_MAX = 5_000
/** Commands time out after 1.5 s, and a dead connection is found after 2 s. */
const NOTICED_MS = 3_500
const CONNECT_MS_MAX = 10_000
const ANSWER_MS_MAX = 3_000

export const redisUnreachable: FaultCase = {
  name: 'Redis does not answer for 30 s',
  expectation: 'users connect, answers are degraded, no flicker; all states correct within 5 s of its return',
  async run(context) {
    const some = Math.ceil(context.userCount / 50)
    const fixture = await startFixture(context, { newcomers: some })
    const { deployment, users, checker, steady, changing, newcomers, pick } = fixture
    const problems: string[] = []
    try {
      const outageMs = context.isQuick ? OUTAGE_QUICK_MS : OUTAGE_MS
      checker.begin(outageMs + GHOST_MS_MAX['cut off'])
      const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
      await Bun.sleep(1_000)
      context.say('pausing Redis (SIGSTOP)')
      const stoppedAt = performance.now()
      await deployment.redis().kill('SIGSTOP')
      const samplings = [deployment.gateways[0]!, deployment.presences[0]!].map(({ url }) =>
        sampleQueries(url, steady),
      )
      await Bun.sleep(500)
      for (const how of ['left', 'closed', 'silent'] as const) users.disconnect(pick(steady, some), how)
      const connectsBeganAt = performance.now()
      await users.connect(newcomers)
      const connectMs = performance.now() - connectsBeganAt
      if (connectMs > CONNECT_MS_MAX) problems.push(`connecting users took ${Math.round(connectMs)} ms`)
      for (const user of pick(steady, some)) users.setText(user, 'meanwhile')
      await Bun.sleep(Math.max(0, stoppedAt + outageMs - 1_000 - performance.now()))
      for (const how of ['left', 'closed'] as const) users.disconnect(pick(steady, some), how)
      stopChanging()
      await Bun.sleep(1_000)
      const samples = samplings.flatMap((sampling) => sampling.stop())
      const refused = samples.filter(({ code, tookMs }) => code !== 200 || tookMs > ANSWER_MS_MAX)
      if (refused.length > 0) problems.push(`${refused.length} of ${samples.length} queries failed or hung`)
      const late = samples.filter(({ at, isDegraded }) => at > stoppedAt + NOTICED_MS && !isDegraded)
      if (late.length > 0) problems.push(`${late.length} answers did not say that they are degraded`)
      context.say(`resuming Redis after ${((performance.now() - stoppedAt) / 1000).toFixed(1)} s`)
      await deployment.redis().kill('SIGCONT')
      const waitedMs = performance.now() - stoppedAt + HEAL_MS_MAX
      const ghostMsMax = { left: waitedMs, closed: waitedMs, silent: waitedMs }
      const degraded = samples.filter(({ isDegraded }) => isDegraded).length
      const notes = [
        `${newcomers.length} users connected within ${Math.round(connectMs)} ms, ${degraded} of ${samples.length} answers degraded`,
      ]
      return await fixture.verdict({ healMsMax: HEAL_MS_MAX, ghostMsMax, problems, notes })
    } finally {
      await deployment.redis().kill('SIGCONT')
      await fixture.stop()
    }
  },
}
