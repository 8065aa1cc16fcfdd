// All gateways are replaced, one after the other, while people are on them: separate processes by a
// deployment, and workers behind one port by a hangup signal. Nobody may see anything of it.
import { childrenOf } from '../../services/processes.ts'
import { until } from '../../services/within.ts'
import { DRAIN_MS, GHOST_MS_MAX, TIMES, VISIBLE_MS } from '../deployment.ts'
import { type FaultCase, regathered, type Scene, type SceneOptions, setScene } from '../fixture.ts'

const STIRRED_PER_SECOND = 50
const GATEWAYS = 3
const WORKERS = 2
const RETURN_MS_MAX = 3_000
/** Who goes idle while they move may count as active until the session they left is over its delay. */
const MOVED_MS_MAX = TIMES.offline_delay_ms + VISIBLE_MS
/** For the drain of each, its end and the start of another. */
const WORKERS_MS_MAX = WORKERS * (DRAIN_MS + 5_000)

function restarted(
  name: string,
  options: SceneOptions,
  restart: (scene: Scene, say: (line: string) => void) => Promise<void>,
): FaultCase {
  return {
    name,
    expectation: 'zero visible offline or online events of anybody who did not change',
    async run(context) {
      const scene = await setScene(context, options)
      const { crowd, checker, lively } = scene
      try {
        checker.begin(GHOST_MS_MAX['cut off'])
        const calm = crowd.stir(lively, STIRRED_PER_SECOND)
        const startedAt = performance.now()
        await restart(scene, context.say)
        calm()
        // Those who were on the last one are on their way.
        await regathered(crowd, RETURN_MS_MAX)
        const notes = [`it took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`]
        return await scene.conclude({ healMsMax: MOVED_MS_MAX, notes })
      } finally {
        await scene.stop()
      }
    },
  }
}

export const gatewaysRestarted = restarted(
  'all gateways restarted, one by one',
  { gateways: GATEWAYS },
  async ({ world, crowd }, say) => {
    for (let round = 1; round <= GATEWAYS; round++) {
      const leaving = world.gateways.shift()!
      const people = crowd.on(leaving.url).length
      world.gateways.push(await world.start('gateway'))
      const startedAt = performance.now()
      await leaving.stop()
      say(`gateway ${round} with ${people} people ended in ${Math.round(performance.now() - startedAt)} ms`)
    }
  },
)

export const workersRestarted = restarted(
  'workers behind one port restarted (SIGHUP)',
  { workers: WORKERS },
  async ({ world }) => {
    const [parent] = world.gateways
    const before = new Set(await childrenOf(parent!.pid))
    parent!.signal('SIGHUP')
    await until(WORKERS_MS_MAX, 'the restart of the workers', async () => {
      const now = await childrenOf(parent!.pid)
      return now.length === WORKERS && now.every((pid) => !before.has(pid))
    })
    // The last one has started, and is not ready yet.
    await Bun.sleep(DRAIN_MS)
  },
)
