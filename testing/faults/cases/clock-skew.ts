// Processes whose clocks are five seconds ahead or behind share one Redis. Arrivals, departures of every
// kind, an expiry and the loss of a gateway are seen at the same times as with clocks that are right.

import { GHOST_MS_MAX, TIMES, VISIBLE_MS } from '../deployment.ts'
import { type FaultCase, setScene } from '../fixture.ts'
import type { Departure } from '../users.ts'

const AHEAD_MS = 5_000
const BUSY_MS = 3_000
const STIRRED_PER_SECOND = 20
/** Measuring the store's clock takes a moment, which is what is not known of it. */
const UNCERTAIN_MS = 150
const USERS_MAX = 500

const SOONEST_MS: Record<Departure, number> = {
  left: 0,
  closed: TIMES.offline_delay_ms - UNCERTAIN_MS,
  silent: TIMES.heartbeat_ttl_ms - TIMES.heartbeat_interval_ms + TIMES.offline_delay_ms - UNCERTAIN_MS,
  'cut off': TIMES.gateway_lease_ms * 0.8 + TIMES.offline_delay_ms - UNCERTAIN_MS,
}

export const clockSkew: FaultCase = {
  name: 'clocks are off by 5 s either way',
  expectation: 'every outcome and every time as with clocks that are right',
  async run(context) {
    const users = Math.min(context.users, USERS_MAX)
    const some = Math.ceil(users / 50)
    const skewsMs = [AHEAD_MS, -AHEAD_MS, AHEAD_MS, -AHEAD_MS, AHEAD_MS]
    const scene = await setScene({ ...context, users }, { gateways: 3, newcomers: some, skewsMs })
    const { world, crowd, checker, still, lively, newcomers, take } = scene
    const problems: string[] = []
    try {
      checker.begin(GHOST_MS_MAX['cut off'])
      const calm = crowd.stir(lively, STIRRED_PER_SECOND)
      await crowd.arrive(newcomers)
      for (const how of ['left', 'closed', 'silent'] as const) crowd.depart(take(still, some), how)
      const busy = take(still, some)
      for (const person of busy) {
        person.status.set('busy', performance.now())
        person.client.tell({ type: 'set_availability', status: 'busy', expires_at: Date.now() + BUSY_MS })
      }
      await Bun.sleep(BUSY_MS / 2)
      const unseen = busy.filter((person) => checker.believes(person)?.status !== 'busy').length
      if (unseen > 0) problems.push(`${unseen} of ${busy.length} were not seen busy`)
      await Bun.sleep(BUSY_MS / 2)
      for (const person of busy) person.status.set('online', performance.now())
      await Bun.sleep(VISIBLE_MS)
      const late = busy.filter((person) => checker.believes(person)?.status !== 'online').length
      if (late > 0) problems.push(`${late} of ${busy.length} were busy for too long`)
      const victim = world.gateways.shift()!
      const on = crowd.on(victim.url)
      const staying = take(
        still.filter((person) => on.includes(person)),
        Math.ceil(on.length / 10),
      )
      context.say(`killing the gateway that is ahead, with ${on.length} people`)
      victim.signal('SIGKILL')
      crowd.cutOff(staying)
      await Bun.sleep(GHOST_MS_MAX['cut off'])
      calm()
      const early = checker
        .ghosts()
        .filter(({ how, goneAt, seenAt }) => (seenAt ?? goneAt) - goneAt < SOONEST_MS[how])
      for (const { person, how, goneAt, seenAt } of early.slice(0, 3)) {
        problems.push(
          `${person.id} (${how}) was seen offline after ${Math.round(seenAt! - goneAt)} ms already`,
        )
      }
      return await scene.conclude({ healMsMax: VISIBLE_MS, problems })
    } finally {
      await scene.stop()
    }
  },
}
