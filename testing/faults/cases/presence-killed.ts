// All presence processes are killed and come back later. Meanwhile changes by deadline wait; arrivals,
// goodbyes, changes of activity and queries go on as ever, because gateways commit and publish them.

import { GHOST_MS_MAX, VISIBLE_MS } from '../deployment.ts'
import { type FaultCase, setScene } from '../fixture.ts'
import { sampleQueries } from '../queries.ts'

const STIRRED_PER_SECOND = 50
const AWAY_MS = 20_000
const AWAY_QUICK_MS = 6_000

export const presenceKilled: FaultCase = {
  name: 'all presence processes are killed',
  expectation: 'only deadlines wait; they take effect within 1 s once one is back',
  async run(context) {
    const some = Math.ceil(context.users / 50)
    const scene = await setScene(context, { newcomers: some })
    const { world, crowd, checker, still, lively, newcomers, take } = scene
    const problems: string[] = []
    try {
      const awayMs = context.isQuick ? AWAY_QUICK_MS : AWAY_MS
      checker.begin(GHOST_MS_MAX['cut off'])
      const calm = crowd.stir(lively, STIRRED_PER_SECOND)
      context.say('killing all presence processes')
      await Promise.all(world.presences.splice(0).map((one) => one.kill()))
      const killedAt = performance.now()
      const sampling = sampleQueries(world.gateways[0]!.url, still)
      crowd.depart(take(still, some), 'left')
      for (const how of ['closed', 'silent'] as const) crowd.depart(take(still, some), how)
      await crowd.arrive(newcomers)
      for (const person of take(still, some)) crowd.say(person, 'meanwhile')
      await Bun.sleep(awayMs - 3_000)
      calm()
      // Whoever the deadlines do not concern is shown as they are, all the time.
      await Bun.sleep(VISIBLE_MS)
      const waiting = crowd
        .disagreements()
        .filter(({ about }) => crowd.find(about)!.status.current() !== 'offline')
      if (waiting.length > 0) problems.push(`${waiting.length} changes without a deadline waited as well`)
      await Bun.sleep(2_000 - VISIBLE_MS)
      const started = await Promise.all([world.start('presence'), world.start('presence')])
      world.presences.push(...started)
      const bad = sampling.stop().filter(({ code, isDegraded }) => code !== 200 || isDegraded)
      if (bad.length > 0) problems.push(`${bad.length} queries failed or were degraded`)
      const backMs = performance.now() - killedAt
      context.say(`back after ${(backMs / 1000).toFixed(1)} s`)
      const ghostMsMax = { closed: backMs + VISIBLE_MS, silent: backMs + VISIBLE_MS }
      return await scene.conclude({ healMsMax: VISIBLE_MS, ghostMsMax, problems })
    } finally {
      await scene.stop()
    }
  },
}
