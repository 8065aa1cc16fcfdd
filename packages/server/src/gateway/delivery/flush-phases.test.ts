import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../../testing/worlds/fake-clock.ts'
import { createFlushPhases } from './flush-phases.ts'

test('[W5] the next turn is never set in the past, though time goes on while it is computed', async () => {
  const clock = createFakeClock(1_750_000_000_000)
  const delays: number[] = []
  let reads = 0
  const phases = createFlushPhases({
    flushMs: 50,
    flush: () => {},
    clock: {
      ...clock,
      elapsed: () => clock.elapsed() + ++reads * 0.7,
      after(delayMs, run) {
        delays.push(delayMs)
        return clock.after(delayMs, run)
      },
    },
  })
  for (let turn = 0; turn < 50; turn++) {
    phases.enqueue(turn * 64)
    await clock.advance(50)
  }
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0)
})
