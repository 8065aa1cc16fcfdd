// Activity of the whole device, merged from all tabs. Any active tab makes the device active. The last report
// of a closed tab still counts, because the user was active a moment ago. The device is idle after the away
// time, or at once when a tab reports idle (for example because the screen is locked).
import type { Activity } from '@greendot/protocol'
import type { Runtime, Timer } from '../platform.ts'

/** Used until the server has sent the user's away time. */
export const AWAY_AFTER_MS = 300_000
/** Activity of a tab that never becomes idle. */
export const FOREVER = Number.POSITIVE_INFINITY

export interface DeviceActivity {
  /** The user was active in this tab at this instant. `FOREVER` for programs without input. */
  note(tab: object, at: number): void
  /** The user is idle, whatever other tabs reported before. */
  noteIdle(tab: object): void
  leave(tab: object): void
  /** The latest instant, without `FOREVER`. */
  latest(): number
  /** The activity now; remembers it as reported. */
  report(): Activity
  /** Calls `onChange` if the last report is wrong or older than half the away time; otherwise sets a timer. */
  review(): void
  stop(): void
}

export interface DeviceActivityParts {
  runtime: Runtime
  awayAfterMs(): number
  onChange(): void
}

export function createDeviceActivity({
  runtime,
  awayAfterMs,
  onChange,
}: DeviceActivityParts): DeviceActivity {
  /** Tabs that never become idle. */
  const always = new Set<object>()
  let activeAt = 0
  let reported: Activity | null = null
  let reportedAt = 0
  let timer: Timer | null = null

  const remainingMs = () => (always.size > 0 ? FOREVER : activeAt + awayAfterMs() - runtime.now())
  const activity = (): Activity => (remainingMs() > 0 ? 'active' : 'idle')

  function review(): void {
    timer?.stop()
    // If the away time is shorter than the heartbeat interval, heartbeats alone report too rarely.
    const againMs = awayAfterMs() / 2
    const isActive = activity() === 'active'
    if (isActive) timer = runtime.after(Math.min(remainingMs(), againMs), review)
    if (activity() !== reported || (isActive && runtime.now() - reportedAt >= againMs)) onChange()
  }

  return {
    note(tab, at) {
      if (at === FOREVER) always.add(tab)
      else {
        always.delete(tab)
        activeAt = Math.max(activeAt, at)
      }
      review()
    },
    noteIdle(tab) {
      always.delete(tab)
      activeAt = 0
      review()
    },
    leave(tab) {
      if (!always.delete(tab)) return
      activeAt = runtime.now()
      review()
    },
    latest: () => activeAt,
    report() {
      reportedAt = runtime.now()
      reported = activity()
      return reported
    },
    review,
    stop: () => timer?.stop(),
  }
}
