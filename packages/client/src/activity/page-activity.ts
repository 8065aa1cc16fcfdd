// Input of a page becomes "somebody was active here, then": throttled, but never losing the last one.
// When that means idle is decided by the hub, which hears all tabs and outlives a page that falls asleep.
// Where the Idle Detection API is allowed, activity anywhere on the device counts, and a locked screen is
// idle at once.
import type { Page, Runtime, Timer } from '../platform.ts'

const REPORT_EVERY_MS = 5_000
/** Short away times, of tests above all, need reports that are closer together. */
const REPORTS_PER_AWAY_TIME = 10
/** The least that the Idle Detection API takes. */
const IDLE_THRESHOLD_MS_MIN = 60_000
const INPUTS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart']

export interface ActivityParts {
  runtime: Runtime
  window: Page
  idleDetection: 'ask' | 'off' | undefined
  awayAfterMs(): number
  /** 0 says that the person is known to be idle. */
  onActive(at: number): void
}

/** The part of the Idle Detection API that is used; browsers that have it are ahead of the types. */
interface IdleDetector extends EventTarget {
  userState: 'active' | 'idle' | null
  screenState: 'locked' | 'unlocked' | null
  start(options: { threshold: number; signal: AbortSignal }): Promise<void>
}

interface IdleDetectorType {
  new (): IdleDetector
  requestPermission(): Promise<PermissionState>
}

export function startActivity(parts: ActivityParts): Timer {
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
    // Browsers say that the pointer moved when it was the page that moved below it.
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
    // It may be asked for only while somebody is clicking.
    const ask = async () =>
      (await IdleDetector.requestPermission()) === 'granted' && startDetector(new IdleDetector())
    document.addEventListener('click', () => void ask(), { signal, once: true })
  }

  async function startDetector(detector: IdleDetector): Promise<void> {
    detector.addEventListener('change', () => {
      presence?.stop()
      if (detector.userState === 'idle' || detector.screenState === 'locked') return onActive(0)
      // It speaks up when something changes; until then the person goes on being active.
      note()
      presence = runtime.every(awayAfterMs() / 2, note)
    })
    await detector.start({ threshold: Math.max(IDLE_THRESHOLD_MS_MIN, awayAfterMs()), signal })
  }

  // Refused or broken, it changes nothing: there are the inputs.
  detectIdle().catch(() => {})
  return {
    stop() {
      ending.abort()
      report?.stop()
      presence?.stop()
    },
  }
}
