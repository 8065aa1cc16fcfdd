// Clears the duties that this process has done, many at a time. A duty that could not be cleared is found by a
// sweeper, which does the work again; versions make that harmless.
import type { Clock } from '../../platform/clock.ts'
import type { Duty, OpenDuty, PresenceStore } from '../../store/port.ts'

/** Duties gather for this long, so that clearing costs a call per shard and not per change. */
const GATHER_MS = 25
/** Duties that wait to be cleared. Past it a sweeper is left to find them. */
const WAITING_MAX = 100_000

export interface Duties {
  done(duty: Duty, entry: OpenDuty): void
  /** Clears what waits. */
  flush(): Promise<void>
}

export function createDuties(store: Pick<PresenceStore, 'clearDuties'>, clock: Clock): Duties {
  let waiting: Record<Duty, OpenDuty[]> = { announce: [], archive: [] }
  let isPlanned = false

  async function clearAll(): Promise<void> {
    isPlanned = false
    const { announce, archive } = waiting
    waiting = { announce: [], archive: [] }
    const clear = (duty: Duty, done: OpenDuty[]) =>
      done.length === 0 ? undefined : store.clearDuties(duty, done).catch(ignore)
    await Promise.all([clear('announce', announce), clear('archive', archive)])
  }

  return {
    done(duty, { userId, revision }) {
      if (waiting[duty].length >= WAITING_MAX) return
      waiting[duty].push({ userId, revision })
      if (isPlanned) return
      isPlanned = true
      clock.after(GATHER_MS, () => void clearAll())
    },
    flush: clearAll,
  }
}

/** A sweeper finds them. */
const ignore = () => {}
