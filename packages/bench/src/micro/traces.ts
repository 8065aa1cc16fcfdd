// What traces cost where they are on: changes through tracker, store in memory, announcer and bus, beside the same with
// traces off. The spans are dropped as they end, so sending them is not in it.
import { systemClock as clock } from '../../../server/src/platform/clock.ts'
import { createTracer } from '../../../server/src/platform/measuring/tracing.ts'
import { type Micro, perCpuSecond, sideBySide } from './measure.ts'
import { createUsers, sessionOf, userName } from './setup/users.ts'

const USERS = 1_000
const GATEWAY = 'g-watching'
const NEVER = 1e12

export const traces: Micro = {
  name: 'traces',
  about: 'changes with one in so many traced, beside changes without traces',
  missing: () => null,
  async run({ rounds, roundMs }) {
    const off = await createFlipping(null)
    const readings = []
    for (const [title, oneIn] of [
      ['traces, none sampled', NEVER],
      ['traces, one in 100', 100],
      ['traces, all', 1],
    ] as const) {
      const on = await createFlipping(oneIn)
      const reading = { name: title, unit: 'changes per CPU-second', rounds }
      readings.push(
        await sideBySide(reading, perCpuSecond(roundMs, on.flip), perCpuSecond(roundMs, off.flip)),
      )
      await on.close()
    }
    await off.close()
    return readings
  },
}

/** Users that are active and idle in turns, each watched on another gateway. */
async function createFlipping(oneIn: number | null) {
  const tracer = oneIn === null ? null : createTracer({ clock, oneIn, finished: () => {} })
  const { tracker, store, bus, connect, close } = await createUsers({ tracer })
  await connect(USERS)
  const ids = Array.from({ length: USERS }, (_, user) => userName(user))
  await store.addInterest(GATEWAY, ids)
  await bus.subscribe(GATEWAY, () => {})
  const startedAt = clock.now()
  let at = startedAt
  let isIdle = false

  async function flip(): Promise<number> {
    at++
    isIdle = !isIdle
    const type = isIdle ? 'idle' : 'active'
    for (const [user, userId] of ids.entries())
      tracker.report(userId, { type, activity: type, ...sessionOf(user, startedAt), at })
    await tracker.flush()
    return USERS
  }

  return { flip, close }
}
