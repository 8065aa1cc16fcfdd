// All gateways are replaced one after the other while users are connected: separate processes as in a
// deployment, and workers behind one port by SIGHUP. Watchers must see no change.
import { childrenOf } from '../../services/processes.ts'
import { until } from '../../services/within.ts'
import { DRAIN_MS, GHOST_MS_MAX, TIMES, VISIBLE_MS } from '../deployment.ts'
import {
  allReconnected,
  type FaultCase,
  type Fixture,
  type FixtureOptions,
  startFixture,
} from '../fixture.ts'

const CHANGES_PER_SECOND = 50
const GATEWAYS = 3
const WORKERS = 2
const RETURN_MS_MAX = 3_000
/** A user that goes idle while reconnecting counts as active until the delay of the old session is over. */
const MOVED_MS_MAX = TIMES.offline_delay_ms + VISIBLE_MS
/** For each worker: its drain, its end and the start of the next. */
const WORKERS_MS_MAX = WORKERS * (DRAIN_MS + 5_000)

function restarted(
  name: string,
  options: FixtureOptions,
  restart: (fixture: Fixture, say: (line: string) => void) => Promise<void>,
): FaultCase {
  return {
    name,
    expectation: 'no visible offline or online event of users that did not change',
    async run(context) {
      const fixture = await startFixture(context, options)
      const { users, checker, changing } = fixture
      try {
        checker.begin(GHOST_MS_MAX['cut off'])
        const stopChanging = users.keepChanging(changing, CHANGES_PER_SECOND)
        const startedAt = performance.now()
        await restart(fixture, context.say)
        stopChanging()
        // The users of the last gateway are still reconnecting.
        await allReconnected(users, RETURN_MS_MAX)
        const notes = [`it took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`]
        return await fixture.verdict({ healMsMax: MOVED_MS_MAX, notes })
      } finally {
        await fixture.stop()
      }
    },
  }
}

export const gatewaysRestarted = restarted(
  'all gateways restarted, one by one',
  { gateways: GATEWAYS },
  async ({ deployment, users }, say) => {
    for (let round = 1; round <= GATEWAYS; round++) {
      const leaving = deployment.gateways.shift()!
      const count = users.on(leaving.url).length
      deployment.gateways.push(await deployment.start('gateway'))
      const startedAt = performance.now()
      await leaving.stop()
      say(`gateway ${round} with ${count} users ended in ${Math.round(performance.now() - startedAt)} ms`)
    }
  },
)

export const workersRestarted = restarted(
  'workers behind one port restarted (SIGHUP)',
  { workers: WORKERS },
  async ({ deployment }) => {
    const [parent] = deployment.gateways
    const before = new Set(await childrenOf(parent!.pid))
    parent!.signal('SIGHUP')
    await until(WORKERS_MS_MAX, 'the restart of the workers', async () => {
      const now = await childrenOf(parent!.pid)
      return now.length === WORKERS && now.every((pid) => !before.has(pid))
    })
    // The last worker has started but may not be ready yet.
    await Bun.sleep(DRAIN_MS)
  },
)
