// Redis loses everything under a living crowd: by FLUSHALL, or by a restart without its data. Nobody
// sees anything: the gateways announce everybody again. Whoever goes meanwhile must not stay a ghost.

import { GHOST_MS_MAX, TIMES } from '../deployment.ts'
import { type FaultCase, type Scene, setScene } from '../fixture.ts'

const STIRRED_PER_SECOND = 50
/** Of gateways, after which they read again whom their clients watch. */
const SETTLING_MS = 2_000
const EVERYTHING_MS_MAX = TIMES.gateway_lease_ms + TIMES.offline_delay_ms + SETTLING_MS

function emptied(name: string, empty: (scene: Scene) => Promise<unknown>): FaultCase {
  return {
    name,
    expectation: 'nothing is seen; all is true again within lease + delay + settling',
    async run(context) {
      const scene = await setScene(context)
      const { crowd, checker, still, lively, take } = scene
      try {
        checker.begin(GHOST_MS_MAX['cut off'])
        const calm = crowd.stir(lively, STIRRED_PER_SECOND)
        const some = Math.ceil(context.users / 100)
        for (const person of take(still, some)) crowd.say(person, 'before')
        await Bun.sleep(1_000)
        // Their delay is running, in a store that is about to forget it.
        crowd.depart(take(still, some), 'closed')
        await Bun.sleep(200)
        context.say('emptying Redis')
        await empty(scene)
        for (const how of ['left', 'closed', 'silent'] as const) crowd.depart(take(still, some), how)
        for (const person of take(still, some)) crowd.say(person, 'after')
        calm()
        const ghostMsMax = { left: EVERYTHING_MS_MAX, closed: EVERYTHING_MS_MAX, silent: EVERYTHING_MS_MAX }
        return await scene.conclude({ healMsMax: EVERYTHING_MS_MAX, ghostMsMax })
      } finally {
        await scene.stop()
      }
    },
  }
}

export const redisRestartedEmpty = emptied('Redis is restarted empty', ({ world }) =>
  world.redis().restart({ keepData: false }),
)
export const redisFlushed = emptied('Redis is emptied (FLUSHALL)', ({ world }) =>
  world.redis().cli('FLUSHALL'),
)
