// Input of a page, on a clock that the test moves: reported soon, not too often, and never losing the last.
// The page is a bare EventTarget; how browsers behave is tested in one.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFakeClock } from '../../../../testing/fake-clock.ts'
import { runtimeOf } from '../../testing/runtime.ts'
import type { Page } from '../platform.ts'
import { startPageActivity } from './page-activity.ts'

function createScene({ awayAfterMs = 300_000, ...browser }: { awayAfterMs?: number } & object = {}) {
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

describe('activity', () => {
  test('[D4] the first input is reported at once, the rest of a flurry with the last one of it', async () => {
    const { clock, reports, input } = createScene()
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

  test('[D4] whenever input comes, its last instant is reported in time, and reports are rare', async () => {
    const pauses = fc.array(fc.nat({ max: 20_000 }), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(pauses, async (waits) => {
        const { clock, reports, input } = createScene()
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

  test('[D4] with a short away time reports are closer together', async () => {
    const { clock, reports, input } = createScene({ awayAfterMs: 1_000 })
    for (let index = 0; index < 20; index++) {
      input('wheel')
      await clock.advance(50)
    }
    expect(reports.length).toBeGreaterThanOrEqual(9)
  })

  test('[D4] a pointer that stands still while the page moves below it is nobody', async () => {
    const { clock, reports, input } = createScene()
    input('pointermove', { movementX: 0, movementY: 0 })
    await clock.advance(10_000)
    expect(reports).toEqual([])
    input('pointermove', { movementX: 0, movementY: -1 })
    await clock.advance(0)
    expect(reports).toHaveLength(1)
  })

  test('[D4] looking at the page again is activity, looking away is not', async () => {
    const { clock, document, reports } = createScene()
    document.hidden = true
    document.dispatchEvent(new Event('visibilitychange'))
    await clock.advance(10_000)
    expect(reports).toEqual([])
    document.hidden = false
    document.dispatchEvent(new Event('visibilitychange'))
    await clock.advance(0)
    expect(reports).toHaveLength(1)
  })

  test('[D4] after the end nothing is heard and no timer is left', async () => {
    const { clock, reports, activity, input } = createScene()
    input('keydown')
    activity.stop()
    input('keydown')
    await clock.advance(60_000)
    expect(reports).toEqual([])
    expect(clock.timerCount()).toBe(0)
  })

  /** As much of the Idle Detection API as there is to it, with a person that the test moves. */
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

  test('[D4] where idle detection is allowed, activity anywhere counts and a locked screen is idle at once', async () => {
    const { detectors, browser } = idleDetection('granted')
    const { clock, reports } = createScene(browser)
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

  test('[D4] where it is not, nobody is asked', async () => {
    const { detectors, browser } = idleDetection('prompt')
    const { clock } = createScene(browser)
    await clock.advance(1_000)
    expect(detectors).toEqual([])
  })
})
