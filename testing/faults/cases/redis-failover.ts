// Masters of a Redis Cluster are killed while changes flow, one after the other; replicas take over.
// Changes may be late by the failover and intermediate ones lost; what is final must not be.

import { GHOST_MS_MAX } from '../deployment.ts'
import { type FaultCase, setScene } from '../fixture.ts'

const STIRRED_PER_SECOND = 100
/** From the death of a master to its replica's taking over, with the timeouts of the test cluster. */
const FAILOVER_MS_MAX = 10_000
/** Noticing, announcing again, settling. */
const HEAL_MS_MAX = 6_000

export const redisFailover: FaultCase = {
  name: 'masters of a Redis Cluster die',
  expectation: 'nothing false is seen, changes are late by the failover at most, no final state is lost',
  async run(context) {
    const some = Math.ceil(context.users / 50)
    const scene = await setScene(context, { redis: 'cluster', newcomers: some })
    const { world, crowd, checker, still, lively, newcomers, take } = scene
    try {
      const waitedMs = FAILOVER_MS_MAX + HEAL_MS_MAX
      checker.begin(waitedMs + GHOST_MS_MAX['cut off'])
      const calm = crowd.stir(lively, STIRRED_PER_SECOND)
      const tookMs: number[] = []
      for (const master of context.isQuick ? [0] : [0, 1, 2]) {
        await Bun.sleep(1_000)
        const killedAt = performance.now()
        const failover = world.cluster().failover(master)
        await Bun.sleep(300)
        for (const how of ['left', 'closed', 'silent'] as const) crowd.depart(take(still, some), how)
        for (const person of take(still, some)) crowd.say(person, `during ${master}`)
        await failover
        tookMs.push(performance.now() - killedAt)
        context.say(`master ${master} died and was replaced after ${(tookMs.at(-1)! / 1000).toFixed(1)} s`)
        if (master === 0) await crowd.arrive(newcomers)
      }
      calm()
      const notes = [`failovers took ${tookMs.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s`]
      const ghostMsMax = { left: waitedMs, closed: waitedMs, silent: waitedMs }
      return await scene.conclude({ healMsMax: HEAL_MS_MAX, ghostMsMax, notes })
    } finally {
      await scene.stop()
    }
  },
}
