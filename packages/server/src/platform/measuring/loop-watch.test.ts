// How long the event loop was held up, by a clock whose ticks a test can make late.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { startLoopWatch } from './loop-watch.ts'

test('[X8] says how late a look was, and nothing while the loop comes round in time', async () => {
  const clock = createFakeClock(0)
  let heldUpMs = 0
  const late: number[] = []
  const held = { ...clock, elapsed: () => clock.elapsed() + heldUpMs }
  const watch = startLoopWatch(
    held,
    () => true,
    (ms) => late.push(ms),
  )
  await clock.advance(300)
  expect(late).toEqual([0, 0, 0])
  heldUpMs = 25
  await clock.advance(200)
  expect(late.slice(3)).toEqual([25, 0])
  watch.stop()
  expect(clock.timerCount()).toBe(0)
})

test('[X8] looks once a second while there are no connections, and at the usual pace after that', async () => {
  const clock = createFakeClock(0)
  let hasConnections = false
  let looks = 0
  const watch = startLoopWatch(
    clock,
    () => hasConnections,
    () => looks++,
  )
  await clock.advance(2_000)
  expect(looks).toBe(2)
  hasConnections = true
  await clock.advance(2_000)
  expect(looks).toBe(13)
  watch.stop()
  expect(clock.timerCount()).toBe(0)
})
