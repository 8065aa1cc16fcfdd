// Input of a page on a fake clock: reported soon, not too often, and the last one always.
// The page is an EventTarget; real browsers are in tabs/tabs-browser.test.ts.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/worlds/fake-clock.ts'
import { runtimeOf } from '../../testing/runtime.ts'
import type { Page } from '../platform.ts'
import { startPageActivity } from './page-activity.ts'

function createWorld({ awayAfterMs = 300_000, ...browser }: { awayAfterMs?: number } & object = {}) {
  const clock = createFakeClock(1_000_000)
  const document = Object.assign(new EventTarget(), { hidden: false })
  const window = Object.assign(new EventTarget(), { document, AbortController, ...browser })
  const reports: { at: number; activeAt: number }[] = []
  const activity = startPageActivity({
    runtime: runtimeOf(clock),
    window: window as unknown as Page,
    idleDetection: undefined,
    awayAfterMs: () => awayAfterMs,
    onActive: (activeAt) => reports.push({ at: clock.now(), activeAt }),
  })
  const input = (type: string, about: object = {}) =>
    window.dispatchEvent(Object.assign(new Event(type), about))
  return { clock, document, reports, activity, input }
}

describe('page activity', () => {
  test('[D4] the first input is reported at once, later ones together after 5 s', async () => {
    const { clock, reports, input } = createWorld()
    for (let index = 0; index < 40; index++) {
      input('keydown')
      await clock.advance(100)
    }
    await clock.advance(60_000)
    expect(reports).toEqual([
      { at: 1_000_000, activeAt: 1_000_000 },
      { at: 1_005_000, activeAt: 1_003_900 },
    ])
  })

  test('[D4] the last input is always reported, and reports are at least 5 s apart', async () => {
    const pauses = fc.array(fc.nat({ max: 20_000 }), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(pauses, async (waits) => {
        const { clock, reports, input } = createWorld()
        let last = 0
        for (const waitMs of waits) {
          await clock.advance(waitMs)
          input('pointerdown')
          last = clock.now()
        }
        await clock.advance(10_000)
        expect(reports.at(-1)?.activeAt).toBe(last)
        const gaps = reports.slice(1).map(({ at }, index) => at - reports[index]!.at)
        expect(gaps.every((gapMs) => gapMs >= 5_000)).toBe(true)
        expect(reports.every(({ at, activeAt }) => at - activeAt <= 5_000)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('[D4] with a short away time reports are more frequent', async () => {
    const { clock, reports, input } = createWorld({ awayAfterMs: 1_000 })
    for (let index = 0; index < 20; index++) {
      input('wheel')
      await clock.advance(50)
    }
    expect(reports.length).toBeGreaterThanOrEqual(9)
  })

  test('[D4] a pointermove without movement is not activity', async () => {
    const { clock, reports, input } = createWorld()
    input('pointermove', { movementX: 0, movementY: 0 })
    await clock.advance(10_000)
    expect(reports).toEqual([])
    input('pointermove', { movementX: 0, movementY: -1 })
    await clock.advance(0)
    expect(reports).toHaveLength(1)
  })

  test('[D4] showing the page is activity, hiding it is not', async () => {
    const { clock, document, reports } = createWorld()
    document.hidden = true
    document.dispatchEvent(new Event('visibilitychange'))
    await clock.advance(10_000)
    expect(reports).toEqual([])
    document.hidden = false
    document.dispatchEvent(new Event('visibilitychange'))
    await clock.advance(0)
    expect(reports).toHaveLength(1)
  })

  test('[D4] after stop there are no reports and no timers', async () => {
    const { clock, reports, activity, input } = createWorld()
    input('keydown')
    activity.stop()
    input('keydown')
    await clock.advance(60_000)
    expect(reports).toEqual([])
    expect(clock.timerCount()).toBe(0)
  })

  /** A model of the Idle Detection API. */
  function idleDetection(state: PermissionState) {
    const detectors: Detector[] = []
    class Detector extends EventTarget {
      userState = 'active'
      screenState = 'unlocked'
      threshold = 0
      async start({ threshold }: { threshold: number }) {
        this.threshold = threshold
        detectors.push(this)
        this.dispatchEvent(new Event('change'))
      }
      become(change: { userState?: string; screenState?: string }) {
        Object.assign(this, change)
        this.dispatchEvent(new Event('change'))
      }
    }
    const navigator = { permissions: { query: async () => ({ state }) } }
    return { detectors, browser: { IdleDetector: Detector, navigator } }
  }

  test('[D4] with idle detection, activity anywhere counts and a locked screen is idle at once', async () => {
    const { detectors, browser } = idleDetection('granted')
    const { clock, reports } = createWorld(browser)
    await clock.advance(0)
    const [detector] = detectors
    expect(detector?.threshold).toBe(300_000)
    await clock.advance(600_000)
    expect(clock.now() - reports.at(-1)!.activeAt).toBeLessThan(300_000)
    detector!.become({ screenState: 'locked' })
    expect(reports.at(-1)?.activeAt).toBe(0)
    const { length } = reports
    await clock.advance(600_000)
    expect(reports).toHaveLength(length)
    detector!.become({ screenState: 'unlocked' })
    await clock.advance(0)
    expect(reports.at(-1)?.activeAt).toBe(clock.now())
    detector!.become({ userState: 'idle' })
    expect(reports.at(-1)?.activeAt).toBe(0)
  })

  test('[D4] without the permission, idle detection is not started', async () => {
    const { detectors, browser } = idleDetection('prompt')
    const { clock } = createWorld(browser)
    await clock.advance(1_000)
    expect(detectors).toEqual([])
  })
})
