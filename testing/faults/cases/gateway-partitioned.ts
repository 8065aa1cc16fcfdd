// The network between one gateway and Redis is broken by a proxy: first for less than the lease, then for
// longer. The cluster cannot tell this gateway from a dead one, so its users are shown as offline after the
// lease, and as before once the network is back. Users of other gateways never change.

import { GHOST_MS_MAX, TIMES } from '../deployment.ts'
import { type FaultCase, startFixture } from '../fixture.ts'

const CHANGES_PER_SECOND = 50
const SHORT_MS = 1_200
const LONG_MS = 9_000
const HEAL_MS_MAX = 5_000
/** A lease is renewed every fifth of it, so the last renewal may lie that far back. */
const SOONEST_MS = TIMES.gateway_lease_ms * 0.8 + TIMES.offline_delay_ms - 200

export const gatewayPartitioned: FaultCase = {
  name: 'one gateway is cut off from Redis',
  expectation:
    'shorter than the lease: no visible change; longer: as if killed, and healed within 5 s of the reconnect',
  async run(context) {
    const fixture = await startFixture(context, { hasProxy: true })
    const { deployment, users, checker, steady, changing, pick } = fixture
    const proxy = deployment.proxy()
    const problems: string[] = []
    try {
      checker.begin(GHOST_MS_MAX['cut off'])
      const on = users.on(deployment.gateways[0]!.url)
      const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
      for (const mode of ['blackhole', 'cut'] as const) {
        context.say(`${mode} for ${SHORT_MS} ms, between Redis and a gateway with ${on.length} users`)
        await proxy.setMode(mode)
        await Bun.sleep(SHORT_MS)
        await proxy.setMode('pass')
        await Bun.sleep(TIMES.gateway_lease_ms + TIMES.offline_delay_ms)
      }
      stopChanging()
      await Bun.sleep(1_000)
      if (checker.falseTransitions().length > 0)
        problems.push('watchers saw a break that was shorter than the lease')
      context.say(`blackhole for ${LONG_MS} ms`)
      const some = Math.ceil(context.userCount / 100)
      const leaving = pick(
        steady.filter((user) => on.includes(user)),
        some,
      )
      checker.excuse(on)
      await proxy.setMode('blackhole')
      const cutAt = performance.now()
      for (const user of on) checker.departed(user, 'cut off', cutAt)
      await Bun.sleep(500)
      users.disconnect(leaving, 'left')
      // Their goodbye does not reach Redis: watchers see them go with the gateway.
      for (const user of leaving) checker.departed(user, 'cut off', cutAt)
      await Bun.sleep(LONG_MS)
      const early = checker.ghosts().filter(({ seenAt }) => seenAt !== null && seenAt - cutAt < SOONEST_MS)
      if (early.length > 0)
        problems.push(`${early.length} users were shown as offline before the lease was over`)
      await proxy.setMode('pass')
      const notes = [
        `${on.length} users were on it; watchers saw ${checker.excused().length} changes of them`,
      ]
      return await fixture.verdict({ healMsMax: HEAL_MS_MAX, problems, notes })
    } finally {
      await fixture.stop()
    }
  },
}
