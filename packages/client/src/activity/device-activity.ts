// Whether the person is here with their mind, from what all tabs say. Any active tab makes them active, and
// what a tab said outlives it: whoever closes one was active a moment ago. Idle follows by itself after the
// away time, and at once when it is known, for example because the screen is locked.
import type { Activity } from '@greendot/protocol'
import type { Runtime, Timer } from '../platform.ts'

/** Until the server has said what it is. */
export const AWAY_AFTER_MS = 300_000
/** Active for as long as it is here. */
export const FOREVER = Number.POSITIVE_INFINITY

export interface Attention {
  /** Somebody was active in this tab at this instant; forever, where nobody can tell. */
  note(tab: object, at: number): void
  /** Known of the person, not of the tab that noticed. */
  noteIdle(tab: object): void
  leave(tab: object): void
  /** The latest instant that is not forever. */
  latest(): number
  /** What to say now. */
  say(): Activity
  /** Speaks up when that is not what was said last, or was said too long ago; now, or when that is so. */
  review(): void
  stop(): void
}

export interface AttentionParts {
  runtime: Runtime
  awayAfterMs(): number
  onChange(): void
}

export function createAttention({ runtime, awayAfterMs, onChange }: AttentionParts): Attention {
  /** Tabs that are active for as long as they are here. */
  const always = new Set<object>()
  let activeAt = 0
  let said: Activity | null = null
  let saidAt = 0
  let timer: Timer | null = null

  const remainingMs = () => (always.size > 0 ? FOREVER : activeAt + awayAfterMs() - runtime.now())
  const activity = (): Activity => (remainingMs() > 0 ? 'active' : 'idle')

  function review(): void {
    timer?.stop()
    // Where the away time is shorter than the pause between heartbeats, those alone would not do.
    const againMs = awayAfterMs() / 2
    const isActive = activity() === 'active'
    if (isActive) timer = runtime.after(Math.min(remainingMs(), againMs), review)
    if (activity() !== said || (isActive && runtime.now() - saidAt >= againMs)) onChange()
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
    say() {
      saidAt = runtime.now()
      said = activity()
      return said
    },
    review,
    stop: () => timer?.stop(),
  }
}
