import { describe, expect, test } from 'bun:test'
import { median, perCpuSecond, sideBySide } from './measure.ts'
import { steps } from './steps.ts'

describe('[X7] small measurements', () => {
  test('the median of odd, even and no values', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(() => median([])).toThrow()
  })

  test('ratios are made within a round, so a machine that slows down slows both sides', async () => {
    let speed = 1024
    const ours = async () => speed
    const bare = async () => {
      speed /= 2
      return speed * 4
    }
    const { ratio } = await sideBySide({ name: 'x', unit: '', rounds: 4 }, ours, bare)
    // In turns: ours first finds the speed that bare is about to halve, ours second the halved one.
    expect(ratio).toBe((0.5 + 0.25) / 2)
  })

  test('the first round of each side is not counted', async () => {
    const rates = [1, 100, 100, 100]
    const { ours } = await sideBySide(
      { name: 'x', unit: '', rounds: 3 },
      async () => rates.shift()!,
      async () => 1,
    )
    expect(ours).toBe(100)
  })

  test('counts per CPU-second', async () => {
    let done = 0
    const rate = await perCpuSecond(20, () => {
      for (let spin = 0; spin < 100_000; spin++) done += spin % 2
      return 1
    })()
    expect(done).toBeGreaterThan(0)
    expect(rate).toBeWithin(1, 1e9)
  })

  test('the machine is measured beside its yardstick', async () => {
    const [reading] = await steps.run({ rounds: 1, roundMs: 20 })
    expect(reading!.name).toBe('step')
    expect(reading!.ratio).toBe(reading!.ours / reading!.bare!)
    expect(reading!.ratio!).toBeWithin(0.001, 1)
  })
})
