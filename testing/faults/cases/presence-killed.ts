// All presence processes are killed and started again later. Meanwhile changes by deadline wait. Connects,
// goodbyes, changes of activity and queries go on, because gateways commit and publish them.

import { GHOST_MS_MAX, VISIBLE_MS } from '../deployment.ts'
import { type FaultCase, startFixture } from '../fixture.ts'
import { sampleQueries } from '../queries.ts'

const CHANGES_PER_SECOND = 50
const AWAY_MS = 20_000
const AWAY_QUICK_MS = 6_000

export const presenceKilled: FaultCase = {
  name: 'all presence processes are killed',
  expectation: 'only deadlines wait; they pick effect within 1 s once one is back',
  async run(context) {
    const some = Math.ceil(context.userCount / 50)
    const fixture = await startFixture(context, { newcomers: some })
    const { deployment, users, checker, steady, changing, newcomers, pick } = fixture
    const problems: string[] = []
    try {
      const awayMs = context.isQuick ? AWAY_QUICK_MS : AWAY_MS
      checker.begin(GHOST_MS_MAX['cut off'])
      const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
      context.say('killing all presence processes')
      await Promise.all(deployment.presences.splice(0).map((one) => one.kill()))
      const killedAt = performance.now()
      const sampling = sampleQueries(deployment.gateways[0]!.url, steady)
      users.disconnect(pick(steady, some), 'left')
      for (const how of ['closed', 'silent'] as const) users.disconnect(pick(steady, some), how)
      await users.connect(newcomers)
      for (const user of pick(steady, some)) users.setText(user, 'meanwhile')
      await Bun.sleep(awayMs - 3_000)
      stopChanging()
      // Users without a due deadline must be shown correctly all the time.
      await Bun.sleep(VISIBLE_MS)
      const waiting = users
        .disagreements()
        .filter(({ about }) => users.find(about)!.status.current() !== 'offline')
      if (waiting.length > 0) problems.push(`${waiting.length} changes without a deadline waited as well`)
      await Bun.sleep(2_000 - VISIBLE_MS)
      const started = await Promise.all([deployment.start('presence'), deployment.start('presence')])
      deployment.presences.push(...started)
      const bad = sampling.stop().filter(({ code, isDegraded }) => code !== 200 || isDegraded)
      if (bad.length > 0) problems.push(`${bad.length} queries failed or were degraded`)
      const backMs = performance.now() - killedAt
      context.say(`back after ${(backMs / 1000).toFixed(1)} s`)
      const ghostMsMax = { closed: backMs + VISIBLE_MS, silent: backMs + VISIBLE_MS }
      return await fixture.verdict({ healMsMax: VISIBLE_MS, ghostMsMax, problems })
    } finally {
      await fixture.stop()
    }
  },
}
