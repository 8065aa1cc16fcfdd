// The deadline queue, with the real tracker, store, sweeper and archive and a fake clock: every deadline
// becomes visible within a second of its instant and none before it, spread out or all at one instant.
import { expect, test } from 'bun:test'
import { createFakeClock, untilDone } from '../worlds/fake-clock.ts'
import { startPipeline, WATCHING_GATEWAY } from './deadline-pipeline.ts'

const USERS = 5_000
const SPREAD_MS = 4_000
const LATE_MAX_MS = 1_000
const T = Date.UTC(2026, 0, 1)

test.each([
  ['over four seconds', (index: number) => Math.floor((index * SPREAD_MS) / USERS)],
  ['at one instant', () => 0],
])('[D3] 5,000 deadlines %s are each visible within a second, and none early', async (_, delayOf) => {
  const clock = createFakeClock(T)
  const pipeline = await startPipeline(clock, USERS)
  await untilDone(clock, pipeline.connectAll())
  const firstDueAt = clock.now() + 10_000
  const dueAts = Array.from({ length: USERS }, (_, index) => firstDueAt + delayOf(index))
  const seenAts = new Map<string, number>()
  await pipeline.bus.subscribe(WATCHING_GATEWAY, (messages) => {
    for (const message of messages) {
      if (message.kind === 'change' && message.json.includes('"offline"'))
        seenAts.set(message.userId, clock.now())
    }
  })
  await untilDone(clock, pipeline.closeAll(dueAts))
  await clock.advance(firstDueAt - clock.now() + SPREAD_MS + LATE_MAX_MS)
  expect(seenAts.size).toBe(USERS)
  const lateMs = pipeline.userIds.map((userId, index) => seenAts.get(userId)! - dueAts[index]!)
  expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...lateMs)).toBeLessThanOrEqual(LATE_MAX_MS)
  await untilDone(clock, pipeline.stop())
})
