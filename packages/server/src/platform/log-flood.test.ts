// A flood of equal lines by a fake clock.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createLogFlood } from './log-flood.ts'

const INTERVAL_MS = 10_000

function createWorld() {
  const clock = createFakeClock(0)
  const flood = createLogFlood(clock.after)
  const told: number[] = []
  const log = (message: string) => flood.admits(message, (suppressed) => told.push(suppressed))
  return { clock, flood, told, log }
}

test('[X8] of equal lines some are written, and the rest are told as a count', async () => {
  const { clock, flood, told, log } = createWorld()
  const written = Array.from({ length: 1_000 }, () => log('a')).filter(Boolean)
  expect(written).toHaveLength(50)
  expect(log('b')).toBe(true)
  await clock.advance(INTERVAL_MS)
  expect(told).toEqual([950])
  expect(flood.suppressed()).toBe(950)
  expect(log('a')).toBe(true)
})

test('[X8] messages that are all different take a bounded amount of memory and lines', async () => {
  const { clock, told, log } = createWorld()
  const written = Array.from({ length: 10_000 }, (_, index) => log(`message ${index}`)).filter(Boolean)
  expect(written.length).toBeLessThan(600)
  await clock.advance(INTERVAL_MS)
  expect(told).toEqual([10_000 - written.length])
  expect(clock.timerCount()).toBe(0)
})
