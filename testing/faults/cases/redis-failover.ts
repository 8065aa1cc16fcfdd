// Masters of a Redis Cluster are killed while changes flow, one after the other; replicas pick over.
// Changes may be late by the failover, and intermediate ones may be lost. The final state must not be lost.

import { GHOST_MS_MAX } from '../deployment.ts'
import { type FaultCase, startFixture } from '../fixture.ts'

const CHANGES_PER_SECOND = 100
/** From the death of a master to the promotion of its replica, with the timeouts of the test cluster. */
const FAILOVER_MS_MAX = 10_000
/** Noticing, announcing again, settling. */
const HEAL_MS_MAX = 6_000

export const redisFailover: FaultCase = {
  name: 'masters of a Redis Cluster die',
  expectation: 'no false transition, changes are late by the failover at most, no final state is lost',
  async run(context) {
    const some = Math.ceil(context.userCount / 50)
    const fixture = await startFixture(context, { redis: 'cluster', newcomers: some })
    const { deployment, users, checker, steady, changing, newcomers, pick } = fixture
    try {
      const waitedMs = FAILOVER_MS_MAX + HEAL_MS_MAX
      checker.begin(waitedMs + GHOST_MS_MAX['cut off'])
      const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
      const tookMs: number[] = []
      for (const master of context.isQuick ? [0] : [0, 1, 2]) {
        await Bun.sleep(1_000)
        const killedAt = performance.now()
        const failover = deployment.cluster().failover(master)
        await Bun.sleep(300)
        for (const how of ['left', 'closed', 'silent'] as const) users.disconnect(pick(steady, some), how)
        for (const user of pick(steady, some)) users.setText(user, `during ${master}`)
        await failover
        tookMs.push(performance.now() - killedAt)
        context.say(`master ${master} died and was replaced after ${(tookMs.at(-1)! / 1000).toFixed(1)} s`)
        if (master === 0) await users.connect(newcomers)
      }
      stopChanging()
      const notes = [`failovers took ${tookMs.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s`]
      const ghostMsMax = { left: waitedMs, closed: waitedMs, silent: waitedMs }
      return await fixture.verdict({ healMsMax: HEAL_MS_MAX, ghostMsMax, notes })
    } finally {
      await fixture.stop()
    }
  },
}
