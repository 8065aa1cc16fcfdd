// Repeating timers that share one timer.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { createIntervals } from './intervals.ts'

test('intervals of equal and of multiple length run in the same turn, with one timer', async () => {
  const clock = createFakeClock(0)
  const every = createIntervals(clock)
  const ran: string[] = []
  const note = (name: string) => () => void ran.push(`${name} ${clock.elapsed()}`)
  every(100, note('short'))
  await clock.advance(30)
  every(200, note('long'))
  every(200, note('other'))
  expect(clock.timerCount()).toBe(1)
  await clock.advance(370)
  expect(ran).toEqual([
    'short 100',
    'short 200',
    'long 200',
    'other 200',
    'short 300',
    'short 400',
    'long 400',
    'other 400',
  ])
})

test('a stopped interval runs no more, also when it is stopped in the turn of its run', async () => {
  const clock = createFakeClock(0)
  const every = createIntervals(clock)
  let runs = 0
  const first = every(100, () => second.stop())
  const second = every(100, () => runs++)
  await clock.advance(300)
  expect(runs).toBe(0)
  first.stop()
  expect(clock.timerCount()).toBe(0)
})

test('runs that were missed while the loop was held up are left out', async () => {
  const clock = createFakeClock(0)
  let heldUpMs = 0
  const every = createIntervals({ ...clock, elapsed: () => clock.elapsed() + heldUpMs })
  let runs = 0
  every(100, () => runs++)
  heldUpMs = 1_000
  await clock.advance(100)
  expect(runs).toBe(1)
  await clock.advance(100)
  expect(runs).toBe(2)
})
