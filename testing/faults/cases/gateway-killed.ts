// A gateway is killed with everybody on it. Most come back elsewhere, and nobody sees anything of it;
// some do not, and are offline when the lease and the delay are over.

import { GHOST_MS_MAX } from '../deployment.ts'
import { type FaultCase, setScene } from '../fixture.ts'

const STIRRED_PER_SECOND = 50
const STAY_AWAY_SHARE = 0.1

export const gatewayKilled: FaultCase = {
  name: 'a gateway is killed (kill -9)',
  expectation: 'who reconnects elsewhere: nothing is seen; who does not: offline within lease + delay + 1 s',
  async run(context) {
    const scene = await setScene(context, { gateways: 3 })
    const { world, crowd, checker, still, lively, take } = scene
    try {
      checker.begin(GHOST_MS_MAX['cut off'])
      const calm = crowd.stir(lively, STIRRED_PER_SECOND)
      const victim = world.gateways.shift()!
      const on = crowd.on(victim.url)
      const staying = take(
        still.filter((person) => on.includes(person)),
        Math.floor(on.length * STAY_AWAY_SHARE),
      )
      context.say(`killing a gateway with ${on.length} people; ${staying.length} of them will not come back`)
      victim.signal('SIGKILL')
      crowd.cutOff(staying)
      await Bun.sleep(GHOST_MS_MAX['cut off'])
      calm()
      const notes = [`${on.length} were on it, ${staying.length} stayed away`]
      return await scene.conclude({ healMsMax: 1_000, notes })
    } finally {
      await scene.stop()
    }
  },
}
