// Turns input events of a page into reports of the last active instant: throttled, and the last input is never
// lost. The hub decides when that means idle, because it sees all tabs and keeps running while a page sleeps.
// If the Idle Detection API is permitted, activity anywhere on the device counts, and a locked screen is
// idle at once.
import type { Page, Runtime, Timer } from '../platform.ts'

const REPORT_EVERY_MS = 5_000
/** Short away times, mostly in tests, need more frequent reports. */
const REPORTS_PER_AWAY_TIME = 10
/** The minimum that the Idle Detection API accepts. */
const IDLE_THRESHOLD_MS_MIN = 60_000
const INPUTS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart']

export interface PageActivityParts {
  runtime: Runtime
  window: Page
  idleDetection: 'ask' | 'off' | undefined
  awayAfterMs(): number
  /** 0: the user is known to be idle. */
  onActive(at: number): void
}

/** The part of the Idle Detection API that is used; the DOM types do not have it yet. */
interface IdleDetector extends EventTarget {
  userState: 'active' | 'idle' | null
  screenState: 'locked' | 'unlocked' | null
  start(options: { threshold: number; signal: AbortSignal }): Promise<void>
}

interface IdleDetectorType {
  new (): IdleDetector
  requestPermission(): Promise<PermissionState>
}

export function startPageActivity(parts: PageActivityParts): Timer {
  const { runtime, window, awayAfterMs, onActive } = parts
  const { document } = window
  const ending = new window.AbortController()
  const { signal } = ending
  let activeAt = 0
  let reportedAt = 0
  let report: Timer | null = null
  let presence: Timer | null = null

  const reportEveryMs = () => Math.min(REPORT_EVERY_MS, awayAfterMs() / REPORTS_PER_AWAY_TIME)

  function note(): void {
    activeAt = runtime.now()
    report ??= runtime.after(Math.max(0, reportedAt + reportEveryMs() - activeAt), () => {
      report = null
      reportedAt = runtime.now()
      onActive(activeAt)
    })
  }

  function onInput(event: Event): void {
    const { type, movementX, movementY } = event as PointerEvent
    // Browsers also fire this when the page scrolls below a still pointer.
    if (type === 'pointermove' && movementX === 0 && movementY === 0) return
    note()
  }

  const options = { signal, capture: true, passive: true }
  for (const type of INPUTS) window.addEventListener(type, onInput, options)
  window.addEventListener('focus', note, options)
  document.addEventListener('visibilitychange', () => document.hidden || note(), options)

  async function detectIdle(): Promise<void> {
    const { IdleDetector } = window as unknown as { IdleDetector?: IdleDetectorType }
    if (!IdleDetector || parts.idleDetection === 'off') return
    const name = 'idle-detection' as PermissionName
    const { state } = await window.navigator.permissions.query({ name })
    if (state === 'granted') return startDetector(new IdleDetector())
    if (state !== 'prompt' || parts.idleDetection !== 'ask') return
    // Browsers allow the permission request only during a click.
    const ask = async () =>
      (await IdleDetector.requestPermission()) === 'granted' && startDetector(new IdleDetector())
    document.addEventListener('click', () => void ask(), { signal, once: true })
  }

  async function startDetector(detector: IdleDetector): Promise<void> {
    detector.addEventListener('change', () => {
      presence?.stop()
      if (detector.userState === 'idle' || detector.screenState === 'locked') return onActive(0)
      // The detector fires only on changes; until the next one the user stays active.
      note()
      presence = runtime.every(awayAfterMs() / 2, note)
    })
    await detector.start({ threshold: Math.max(IDLE_THRESHOLD_MS_MIN, awayAfterMs()), signal })
  }

  // Without the detector the input events still work.
  detectIdle().catch(() => {})
  return {
    stop() {
      ending.abort()
      report?.stop()
      presence?.stop()
    },
  }
}
