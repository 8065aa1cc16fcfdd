// How long the event loop was held up, by a clock whose ticks a test can make late.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { startLoopWatch } from './loop-watch.ts'

test('[W7] says how late a look was, and nothing while the loop comes round in time', async () => {
  const clock = createFakeClock(0)
  let heldUpMs = 0
  const late: number[] = []
  const watch = startLoopWatch({ ...clock, elapsed: () => clock.elapsed() + heldUpMs }, (ms) => late.push(ms))
  await clock.advance(300)
  expect(late).toEqual([0, 0, 0])
  heldUpMs = 25
  await clock.advance(200)
  expect(late.slice(3)).toEqual([25, 0])
  watch.stop()
  expect(clock.timerCount()).toBe(0)
})
