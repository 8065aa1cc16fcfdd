// Redis loses everything while users are connected: by FLUSHALL, or by a restart without its data. Watchers
// see no change, because the gateways announce their sessions again. Users that leave meanwhile must not stay
// ghosts.

import { GHOST_MS_MAX, TIMES } from '../deployment.ts'
import { type FaultCase, type Fixture, startFixture } from '../fixture.ts'

const CHANGES_PER_SECOND = 50
/** A shard that lost its memory settles for a lease and three seconds; until then departures are not certain. */
const SETTLING_MS = TIMES.gateway_lease_ms + 3_000
const EVERYTHING_MS_MAX = TIMES.gateway_lease_ms + TIMES.offline_delay_ms + SETTLING_MS

function emptied(name: string, empty: (fixture: Fixture) => Promise<unknown>): FaultCase {
  return {
    name,
    expectation: 'no visible change; all states correct within lease + delay + settling',
    async run(context) {
      const fixture = await startFixture(context)
      const { users, checker, steady, changing, pick } = fixture
      try {
        checker.begin(GHOST_MS_MAX['cut off'])
        const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
        const some = Math.ceil(context.userCount / 100)
        for (const user of pick(steady, some)) users.setText(user, 'before')
        await Bun.sleep(1_000)
        // Their offline delay is running in the store when it is emptied.
        users.disconnect(pick(steady, some), 'closed')
        await Bun.sleep(200)
        context.say('emptying Redis')
        await empty(fixture)
        for (const how of ['left', 'closed', 'silent'] as const) users.disconnect(pick(steady, some), how)
        for (const user of pick(steady, some)) users.setText(user, 'after')
        stopChanging()
        const ghostMsMax = { left: EVERYTHING_MS_MAX, closed: EVERYTHING_MS_MAX, silent: EVERYTHING_MS_MAX }
        return await fixture.verdict({ healMsMax: EVERYTHING_MS_MAX, ghostMsMax })
      } finally {
        await fixture.stop()
      }
    },
  }
}

export const redisRestartedEmpty = emptied('Redis is restarted empty', ({ deployment }) =>
  deployment.redis().restart({ keepData: false }),
)
export const redisFlushed = emptied('Redis is emptied (FLUSHALL)', ({ deployment }) =>
  deployment.redis().cli('FLUSHALL'),
)
