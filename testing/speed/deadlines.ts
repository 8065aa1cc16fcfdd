// Latest of 100,000 deadlines that fall due over four seconds, in milliseconds after its instant (D3: 1,000).
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { startPipeline, WATCHING_GATEWAY } from '../e2e/deadline-pipeline.ts'

const USERS = 100_000
const SPREAD_MS = 4_000
/** Time to report all ends before the first is due. */
const LEAD_MS = 1_000

export async function measure(): Promise<number> {
  const pipeline = await startPipeline(systemClock, USERS)
  await pipeline.connectAll()
  const startsAt = systemClock.now() + LEAD_MS
  const dueAts = pipeline.userIds.map((_, index) => startsAt + Math.floor((index * SPREAD_MS) / USERS))
  const allSeen = Promise.withResolvers<void>()
  let seen = 0
  let latestMs = 0
  await pipeline.bus.subscribe(WATCHING_GATEWAY, (messages) => {
    for (const message of messages) {
      if (message.kind !== 'change' || !message.json.includes('"offline"')) continue
      const dueAt = dueAts[Number(message.userId.slice('user-'.length))]!
      latestMs = Math.max(latestMs, systemClock.now() - dueAt)
      if (++seen === USERS) allSeen.resolve()
    }
  })
  await pipeline.closeAll(dueAts)
  await allSeen.promise
  await pipeline.stop()
  return latestMs
}
