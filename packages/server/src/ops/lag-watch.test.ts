import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { startLagWatch } from './lag-watch.ts'

test('[X8] the lag is unknown until the log has answered and while it is away', async () => {
  const clock = createFakeClock(0)
  const answers = [Promise.resolve(7), Promise.reject(new Error('away')), Promise.resolve(0)]
  for (const answer of answers) answer.catch(() => {})
  const watch = startLagWatch(() => answers.shift()!, clock)
  expect(watch.lag()).toBeNull()
  const lags: (number | null)[] = []
  for (let look = 0; look < 3; look++) {
    await clock.advance(look === 0 ? 0 : 5_000)
    lags.push(watch.lag())
  }
  expect(lags).toEqual([7, null, 0])
  watch.stop()
  expect(clock.timerCount()).toBe(0)
})
