// Processes whose clocks are five seconds ahead or behind share one Redis. Watchers see connects, every kind
// of departure, an expiry and the loss of a gateway at the same times as with correct clocks.

import { GHOST_MS_MAX, TIMES, VISIBLE_MS } from '../deployment.ts'
import { type FaultCase, startFixture } from '../fixture.ts'
import type { Departure } from '../users.ts'

const AHEAD_MS = 5_000
const BUSY_MS = 3_000
const CHANGES_PER_SECOND = 20
/** The error of measuring the store's clock: the round trip of one command. */
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
  expectation: 'the same outcomes and times as with correct clocks',
  async run(context) {
    const userCount = Math.min(context.userCount, USERS_MAX)
    const some = Math.ceil(userCount / 50)
    const skewsMs = [AHEAD_MS, -AHEAD_MS, AHEAD_MS, -AHEAD_MS, AHEAD_MS]
    const fixture = await startFixture({ ...context, userCount }, { gateways: 3, newcomers: some, skewsMs })
    const { deployment, users, checker, steady, changing, newcomers, pick } = fixture
    const problems: string[] = []
    try {
      checker.begin(GHOST_MS_MAX['cut off'])
      const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
      await users.connect(newcomers)
      for (const how of ['left', 'closed', 'silent'] as const) users.disconnect(pick(steady, some), how)
      const busy = pick(steady, some)
      for (const user of busy) {
        user.status.set('busy', performance.now())
        user.client.send({ type: 'set_availability', status: 'busy', expires_at: Date.now() + BUSY_MS })
      }
      await Bun.sleep(BUSY_MS / 2)
      const notBusy = busy.filter((user) => checker.shown(user)?.status !== 'busy').length
      if (notBusy > 0) problems.push(`${notBusy} of ${busy.length} were not shown as busy`)
      await Bun.sleep(BUSY_MS / 2)
      for (const user of busy) user.status.set('online', performance.now())
      await Bun.sleep(VISIBLE_MS)
      const late = busy.filter((user) => checker.shown(user)?.status !== 'online').length
      if (late > 0) problems.push(`${late} of ${busy.length} were shown as busy for too long`)
      const victim = deployment.gateways.shift()!
      const on = users.on(victim.url)
      const staying = pick(
        steady.filter((user) => on.includes(user)),
        Math.ceil(on.length / 10),
      )
      context.say(`killing the gateway whose clock is ahead, with ${on.length} users`)
      victim.signal('SIGKILL')
      users.cutOff(staying)
      await Bun.sleep(GHOST_MS_MAX['cut off'])
      stopChanging()
      const early = checker
        .ghosts()
        .filter(({ how, goneAt, seenAt }) => (seenAt ?? goneAt) - goneAt < SOONEST_MS[how])
      for (const { user, how, goneAt, seenAt } of early.slice(0, 3)) {
        problems.push(
          `${user.id} (${how}) was shown as offline too early, after ${Math.round(seenAt! - goneAt)} ms`,
        )
      }
      return await fixture.verdict({ healMsMax: VISIBLE_MS, problems })
    } finally {
      await fixture.stop()
    }
  },
}
