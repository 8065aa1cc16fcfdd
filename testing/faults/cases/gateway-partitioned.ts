// The way between one gateway and Redis is broken, in a process between them: first for less than the
// lease, then for longer. People on that gateway cannot be told from those of a dead one, so in the
// end they are shown offline, and are back when the way is; nobody else is touched.

import { GHOST_MS_MAX, TIMES } from '../deployment.ts'
import { type FaultCase, setScene } from '../fixture.ts'

const STIRRED_PER_SECOND = 50
const SHORT_MS = 1_200
const LONG_MS = 9_000
const HEAL_MS_MAX = 5_000
/** A lease is renewed every fifth of it, so the last renewal may lie that far back. */
const SOONEST_MS = TIMES.gateway_lease_ms * 0.8 + TIMES.offline_delay_ms - 200

export const gatewayPartitioned: FaultCase = {
  name: 'one gateway is cut off from Redis',
  expectation: 'shorter than the lease: nothing; longer: as if killed, and back within 5 s of its return',
  async run(context) {
    const scene = await setScene(context, { hasWay: true })
    const { world, crowd, checker, still, lively, take } = scene
    const way = world.way()
    const problems: string[] = []
    try {
      checker.begin(GHOST_MS_MAX['cut off'])
      const on = crowd.on(world.gateways[0]!.url)
      const calm = crowd.stir(lively, STIRRED_PER_SECOND)
      for (const order of ['blackhole', 'cut'] as const) {
        context.say(`${order} for ${SHORT_MS} ms, between Redis and a gateway with ${on.length} people`)
        await way.order(order)
        await Bun.sleep(SHORT_MS)
        await way.order('pass')
        await Bun.sleep(TIMES.gateway_lease_ms + TIMES.offline_delay_ms)
      }
      calm()
      await Bun.sleep(1_000)
      if (checker.falseSightings().length > 0) problems.push('a short break was seen')
      context.say(`blackhole for ${LONG_MS} ms`)
      const some = Math.ceil(context.users / 100)
      const leaving = take(
        still.filter((person) => on.includes(person)),
        some,
      )
      checker.excuse(on)
      await way.order('blackhole')
      const cutAt = performance.now()
      for (const person of on) checker.departed(person, 'cut off', cutAt)
      await Bun.sleep(500)
      crowd.depart(leaving, 'left')
      // To the others they are cut off like everybody there, since then.
      for (const person of leaving) checker.departed(person, 'cut off', cutAt)
      await Bun.sleep(LONG_MS)
      const early = checker.ghosts().filter(({ seenAt }) => seenAt !== null && seenAt - cutAt < SOONEST_MS)
      if (early.length > 0) problems.push(`${early.length} people were given up too soon`)
      await way.order('pass')
      const notes = [
        `${on.length} people were on it; their absence was said ${checker.excused().length} times`,
      ]
      return await scene.conclude({ healMsMax: HEAL_MS_MAX, problems, notes })
    } finally {
      await scene.stop()
    }
  },
}
