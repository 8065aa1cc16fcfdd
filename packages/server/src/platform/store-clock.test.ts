// One time for all processes: the store's, whatever the clock of this machine does.
import { expect, test } from 'bun:test'
import { type Clock, systemClock } from './clock.ts'
import { createLogger } from './logger.ts'
import { createStoreClock } from './store-clock.ts'

const logger = createLogger({ level: 'silent' })

function machine() {
  let wallAt = 1_000_000
  let elapsedMs = 50
  const local: Clock = { ...systemClock, now: () => wallAt, elapsed: () => elapsedMs }
  return {
    local,
    pass(ms: number) {
      wallAt += ms
      elapsedMs += ms
    },
    step(ms: number) {
      wallAt += ms
    },
  }
}

test('[C7] a machine whose clock is off goes by the store', async () => {
  const { local, pass } = machine()
  const clock = await createStoreClock(local, async () => 1_005_000, logger)
  expect(clock.now()).toBe(1_005_000)
  expect(clock.offsetMs()).toBe(5_000)
  pass(100)
  expect(clock.now()).toBe(1_005_100)
  clock.stop()
})

test('[C7] a step of the local clock moves no deadline', async () => {
  const { local, pass, step } = machine()
  const clock = await createStoreClock(local, async () => 1_000_000, logger)
  step(60_000)
  pass(10)
  expect(clock.now()).toBe(1_000_010)
  clock.stop()
})

test('[C7] a store without a clock leaves the local one', async () => {
  const { local, step } = machine()
  const clock = await createStoreClock(local, async () => null, logger)
  step(7)
  expect(clock.now()).toBe(1_000_007)
})
