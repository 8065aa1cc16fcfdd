// The custom status of somebody who is away, or seems to be, ends at its instant and not at the next look
// at the deadline queue: between the two anything they do would let it end sooner, and so tell others that
// they are not away. The process that commits somebody sets an alarm for it; should that process be gone,
// the sweeper finds them as it finds everybody else. A tick too many changes nothing.
import type { Clock, Timer } from '../platform/clock.ts'
import type { UserRecord } from '../presence/core/record.ts'
import type { Tracker } from '../presence/pipeline/tracker.ts'
import { createDeadlines } from './deadlines.ts'
import type { PresenceStore } from './port.ts'

/** Past it people wait for the sweeper. */
const EXPIRIES_MAX = 200_000
/** What is more than so many in so long is a crowd, and for those the sweeper goes by larger batches. */
const TICKS_PER_SPELL = 200
const SPELL_MS = 1_000
/** Timers do not count further than that many milliseconds. */
const TIMER_MAX_MS = 2 ** 31 - 1

export interface Expiries {
  /** The store, with every commit noticed. */
  store: PresenceStore
  stop(): void
}

export interface ExpiriesParts {
  store: PresenceStore
  /** It commits to the store that comes of this, and so is there only after it. */
  tracker: () => Pick<Tracker, 'report'>
  clock: Clock
}

export function startExpiries({ store, tracker, clock }: ExpiriesParts): Expiries {
  const deadlines = createDeadlines()
  let alarm: { timer: Timer; at: number } | null = null
  let isStopped = false
  let [spellAt, ticks] = [0, 0]

  function note(userId: string, record: UserRecord): void {
    const at = expiryOf(record)
    if (at !== null && deadlines.size < EXPIRIES_MAX) deadlines.set(userId, at)
    else if (!deadlines.delete(userId)) return
    setAlarm()
  }

  function setAlarm(): void {
    const first = deadlines.first()
    if (isStopped || first?.at === alarm?.at) return
    alarm?.timer.stop()
    alarm = null
    if (first === null) return
    const delayMs = Math.min(TIMER_MAX_MS, first.at - clock.now())
    alarm = { timer: clock.after(Math.max(0, delayMs), ring), at: first.at }
  }

  function ring(): void {
    alarm = null
    const now = clock.now()
    if (now - spellAt >= SPELL_MS) [spellAt, ticks] = [now, 0]
    const due = deadlines.due(now, deadlines.size)
    for (const { key } of due) {
      deadlines.delete(key)
      if (ticks++ < TICKS_PER_SPELL) tracker().report(key, { type: 'tick' })
    }
    setAlarm()
  }

  return {
    store: {
      ...store,
      async commit(commits) {
        const results = await store.commit(commits)
        for (const [index, { userId, record }] of commits.entries()) {
          if (results[index]?.outcome === 'committed') note(userId, record)
        }
        return results
      },
    },
    stop() {
      isStopped = true
      alarm?.timer.stop()
    },
  }
}

/** When what somebody shows while they are away runs out; of whoever is here, others see more than that. */
function expiryOf({ shown, settledAt }: UserRecord): number | null {
  if (shown.status !== 'offline') return null
  const expiresAt = shown.customStatus?.expiresAt ?? null
  return expiresAt !== null && expiresAt > settledAt ? expiresAt : null
}
