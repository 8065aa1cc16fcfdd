import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createFakeClock, type FakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { type Pulse, startPulse } from './pulse.ts'

describe('pulse', () => {
  let clock: FakeClock
  let pulse: Pulse
  let answer: () => Promise<string | null>
  let probes: number
  let told: string[]

  beforeEach(() => {
    clock = createFakeClock(0)
    answer = async () => null
    probes = 0
    told = []
  })
  afterEach(() => pulse.stop())

  function start(): void {
    pulse = startPulse({
      probe: () => {
        probes++
        return answer()
      },
      everyMs: 1_000,
      awayEveryMs: 250,
      onTrouble: (why) => told.push(`trouble: ${why}`),
      onBack: () => told.push('back'),
      clock,
    })
  }

  test('[C7] says nothing while all is well, and asks every so often', async () => {
    start()
    await clock.advance(0)
    expect(probes).toBe(1)
    await clock.advance(3_000)
    expect(probes).toBe(4)
    expect(told).toEqual([])
  })

  test('[C7] trouble is told once, then back once, and it asks more often in between', async () => {
    start()
    await clock.advance(0)
    answer = async () => 'gone'
    await clock.advance(1_000)
    expect(told).toEqual(['trouble: gone'])
    probes = 0
    await clock.advance(1_000)
    expect(probes).toBe(4)
    expect(told).toEqual(['trouble: gone'])
    answer = async () => null
    await clock.advance(250)
    expect(told).toEqual(['trouble: gone', 'back'])
    await clock.advance(5_000)
    expect(told).toHaveLength(2)
  })

  test('[C7] doubt asks at once, but not ever faster while there is no answer', async () => {
    start()
    await clock.advance(0)
    answer = async () => 'gone'
    pulse.doubt()
    await clock.advance(0)
    expect(told).toEqual(['trouble: gone'])
    probes = 0
    for (let round = 0; round < 10; round++) {
      pulse.doubt()
      await clock.advance(0)
    }
    expect(probes).toBe(0)
  })

  test('[C7] doubt during a question is answered by another question', async () => {
    start()
    await clock.advance(0)
    const slow = Promise.withResolvers<string | null>()
    answer = () => slow.promise
    await clock.advance(1_000)
    pulse.doubt()
    answer = async () => 'gone'
    slow.resolve(null)
    await clock.advance(0)
    expect(told).toEqual(['trouble: gone'])
  })

  test('[C7] a question that fails is no answer', async () => {
    answer = () => Promise.reject(new Error('broken'))
    start()
    await clock.advance(0)
    expect(told).toEqual(['trouble: Error: broken'])
  })

  test('[C7] the first answer can be waited for, and the wait fails with the reason', async () => {
    answer = async () => 'no route'
    start()
    const failed = pulse.first(2_000).catch((error: Error) => error.message)
    await clock.advance(2_000)
    expect(await failed).toBe('no route')
    answer = async () => null
    const good = pulse.first(2_000)
    await clock.advance(250)
    await good
    expect(clock.timerCount()).toBe(1)
  })

  test('[C7] after stopping nothing is asked, told or left behind', async () => {
    start()
    await clock.advance(0)
    answer = async () => 'gone'
    pulse.stop()
    pulse.doubt()
    await clock.advance(10_000)
    expect(probes).toBe(1)
    expect(told).toEqual([])
    expect(clock.timerCount()).toBe(0)
  })
})
