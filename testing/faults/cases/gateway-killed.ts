// A gateway is killed with all its connections. Most users reconnect to another gateway, and watchers see no
// change of them. The others do not reconnect, and go offline after the lease and the offline delay.

import { GHOST_MS_MAX } from '../deployment.ts'
import { type FaultCase, startFixture } from '../fixture.ts'

const CHANGES_PER_SECOND = 50
const STAY_AWAY_SHARE = 0.1

export const gatewayKilled: FaultCase = {
  name: 'a gateway is killed (kill -9)',
  expectation:
    'users that reconnect elsewhere: no visible change; the others: offline within lease + delay + 1 s',
  async run(context) {
    const fixture = await startFixture(context, { gateways: 3 })
    const { deployment, users, checker, steady, changing, pick } = fixture
    try {
      checker.begin(GHOST_MS_MAX['cut off'])
      const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
      const victim = deployment.gateways.shift()!
      const on = users.on(victim.url)
      const staying = pick(
        steady.filter((user) => on.includes(user)),
        Math.floor(on.length * STAY_AWAY_SHARE),
      )
      context.say(`killing a gateway with ${on.length} users; ${staying.length} of them will not reconnect`)
      victim.signal('SIGKILL')
      users.cutOff(staying)
      await Bun.sleep(GHOST_MS_MAX['cut off'])
      stopChanging()
      const notes = [`${on.length} users were on it, ${staying.length} did not reconnect`]
      return await fixture.verdict({ healMsMax: 1_000, notes })
    } finally {
      await fixture.stop()
    }
  },
}
