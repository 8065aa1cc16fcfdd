// When garbage is collected: often while many connect, twice when it is calm again, otherwise never.
import { expect, test } from 'bun:test'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { startHousekeeping } from './housekeeping.ts'

function createWorld() {
  const clock = createFakeClock(0)
  const collected = { young: 0, whole: 0 }
  let moves = 0
  const timer = startHousekeeping(clock, () => moves, {
    young: () => void collected.young++,
    whole: () => void collected.whole++,
  })
  return {
    collected,
    timer,
    async pass(ms: number, movesPerSecond = 0) {
      for (let at = 0; at < ms; at += 100) {
        moves += movesPerSecond / 10
        await clock.advance(100)
      }
    },
  }
}

test('[C9] while many connect, young garbage is collected every few thousand, and all of it afterwards', async () => {
  const { collected, pass } = createWorld()
  await pass(5_000, 2_000)
  expect(collected).toEqual({ young: 5, whole: 0 })
  await pass(20_000)
  expect(collected).toEqual({ young: 5, whole: 2 })
  await pass(60_000)
  expect(collected).toEqual({ young: 5, whole: 2 })
})

test('[C9] a few connections that come and go cost no collection', async () => {
  const { collected, pass } = createWorld()
  await pass(40_000, 10)
  expect(collected).toEqual({ young: 0, whole: 0 })
})

test('[C9] nothing is collected once it is stopped', async () => {
  const { collected, pass, timer } = createWorld()
  timer.stop()
  await pass(20_000, 1_000)
  expect(collected).toEqual({ young: 0, whole: 0 })
})
