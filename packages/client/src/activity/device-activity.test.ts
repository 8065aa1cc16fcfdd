// Activity merged from all tabs, on a fake clock.
import { describe, expect, test } from 'bun:test'
import type { Activity } from '@greendot/protocol'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { runtimeOf } from '../../testing/runtime.ts'
import { createDeviceActivity } from './device-activity.ts'

const AWAY_MS = 300_000

function createWorld(awayAfterMs = AWAY_MS) {
  const clock = createFakeClock(1_000_000)
  const reports: { at: number; activity: Activity }[] = []
  const activity = createDeviceActivity({
    runtime: runtimeOf(clock),
    awayAfterMs: () => awayAfterMs,
    onChange: () => reports.push({ at: clock.now(), activity: activity.report() }),
  })
  return { clock, reports, activity }
}

describe('device activity', () => {
  test('[D4] idle comes exactly the away time after the last activity of any tab', async () => {
    const activities = fc.array(fc.record({ tab: fc.nat({ max: 2 }), waitMs: fc.nat({ max: 200_000 }) }), {
      minLength: 1,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(activities, async (all) => {
        const { clock, reports, activity } = createWorld()
        const tabs = [{}, {}, {}]
        let last = 0
        for (const { tab, waitMs } of all) {
          await clock.advance(waitMs)
          activity.note(tabs[tab]!, clock.now())
          last = clock.now()
        }
        await clock.advance(10 * AWAY_MS)
        const idle = reports.filter(({ activity }) => activity === 'idle')
        expect(idle).toEqual([{ at: last + AWAY_MS, activity: 'idle' }])
        expect(clock.timerCount()).toBe(0)
      }),
      { numRuns: 50 },
    )
  })

  test('[D4] active is reported at least twice in an away time', async () => {
    for (const at of [Number.POSITIVE_INFINITY, 1_000_000]) {
      const { clock, reports, activity } = createWorld(2_000)
      activity.note({}, at)
      await clock.advance(1_999)
      expect(reports.map((one) => one.at)).toEqual([1_000_000, 1_001_000])
    }
  })

  test('[D4] idle in one tab is idle in all, except in tabs that are always active', () => {
    const { reports, activity, clock } = createWorld()
    const [first, second, third] = [{}, {}, {}]
    activity.note(first, clock.now())
    activity.note(second, clock.now())
    activity.noteIdle(second)
    expect(reports.at(-1)?.activity).toBe('idle')
    activity.note(third, Number.POSITIVE_INFINITY)
    activity.noteIdle(first)
    expect(reports.at(-1)?.activity).toBe('active')
  })

  test('[D4] the last report of a closed tab still counts', async () => {
    const { reports, activity, clock } = createWorld()
    const [first, second] = [{}, {}]
    activity.note(first, clock.now())
    activity.leave(first)
    expect(activity.report()).toBe('active')
    activity.note(second, Number.POSITIVE_INFINITY)
    await clock.advance(10 * AWAY_MS)
    activity.leave(second)
    expect(activity.report()).toBe('active')
    await clock.advance(AWAY_MS)
    expect(reports.at(-1)).toEqual({ at: clock.now(), activity: 'idle' })
  })
})
