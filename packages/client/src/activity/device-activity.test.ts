// Active and idle from what all tabs say, on a clock that the test moves.
import { describe, expect, test } from 'bun:test'
import type { Activity } from '@greendot/protocol'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { runtimeOf } from '../../testing/runtime.ts'
import { createDeviceActivity } from './device-activity.ts'

const AWAY_MS = 300_000

function createScene(awayAfterMs = AWAY_MS) {
  const clock = createFakeClock(1_000_000)
  const said: { at: number; activity: Activity }[] = []
  const attention = createDeviceActivity({
    runtime: runtimeOf(clock),
    awayAfterMs: () => awayAfterMs,
    onChange: () => said.push({ at: clock.now(), activity: attention.report() }),
  })
  return { clock, said, attention }
}

describe('attention', () => {
  test('[D4] idle comes exactly the away time after the last activity of any tab', async () => {
    const activities = fc.array(fc.record({ tab: fc.nat({ max: 2 }), waitMs: fc.nat({ max: 200_000 }) }), {
      minLength: 1,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(activities, async (all) => {
        const { clock, said, attention } = createScene()
        const tabs = [{}, {}, {}]
        let last = 0
        for (const { tab, waitMs } of all) {
          await clock.advance(waitMs)
          attention.note(tabs[tab]!, clock.now())
          last = clock.now()
        }
        await clock.advance(10 * AWAY_MS)
        const idle = said.filter(({ activity }) => activity === 'idle')
        expect(idle).toEqual([{ at: last + AWAY_MS, activity: 'idle' }])
        expect(clock.timerCount()).toBe(0)
      }),
      { numRuns: 50 },
    )
  })

  test('[D4] somebody active is said to be so at least twice in an away time, forever included', async () => {
    for (const at of [Number.POSITIVE_INFINITY, 1_000_000]) {
      const { clock, said, attention } = createScene(2_000)
      attention.note({}, at)
      await clock.advance(1_999)
      expect(said.map((one) => one.at)).toEqual([1_000_000, 1_001_000])
    }
  })

  test('[D4] known to be idle is known of all tabs, but not of one that is always active', () => {
    const { said, attention, clock } = createScene()
    const [first, second, third] = [{}, {}, {}]
    attention.note(first, clock.now())
    attention.note(second, clock.now())
    attention.noteIdle(second)
    expect(said.at(-1)?.activity).toBe('idle')
    attention.note(third, Number.POSITIVE_INFINITY)
    attention.noteIdle(first)
    expect(said.at(-1)?.activity).toBe('active')
  })

  test('[D4] what a tab said outlives it, also that it was always active', async () => {
    const { said, attention, clock } = createScene()
    const [first, second] = [{}, {}]
    attention.note(first, clock.now())
    attention.leave(first)
    expect(attention.report()).toBe('active')
    attention.note(second, Number.POSITIVE_INFINITY)
    await clock.advance(10 * AWAY_MS)
    attention.leave(second)
    expect(attention.report()).toBe('active')
    await clock.advance(AWAY_MS)
    expect(said.at(-1)).toEqual({ at: clock.now(), activity: 'idle' })
  })
})
