// How late something may be visible, as formulas of the settings. SPEC.md numbers them. A fault has a window,
// from its beginning until it has ended and the deployment had its time to heal. What is due in a window may wait for
// its end, and then takes as long as it takes without a fault.
import type { FaultRecord, FaultScope } from '../../faults/random/history/history.ts'
import type { SimulatedSettings } from '../world/settings.ts'

/** A deadline is found this late at most: feature D3. */
const SWEPT_MS = 1_000
/** Gateways notice that something was lost and announce themselves again; sweepers wait for that. */
const SETTLING_MS = 3_000
/** What a process committed and did not publish is announced by the sweeper of its shard, or by another one later. */
const ANNOUNCED_AGAIN_MS = 4_000 + 1_000
/** Rows of processes that died are written by every sweeper when they are this old. */
const WRITTEN_AGAIN_MS = 10_000 + 1_000
/** A call to the database is given up after this time, and a change may wait for a read and a write. */
const DATABASE_MS = 2 * 2_000
/** A command to Redis is given up after 1.5 s, its connection after 2 s; the next attempt comes within a second. */
const RECONNECT_MS = 2_000 + 1_000 + 1_000

export interface Bounds {
  /** A change is visible within this time if nothing is broken. */
  visibleMs: number
  /** How long a user may be shown after the end of a connection, by the way it ended, before it is visible. */
  ghostMs: Readonly<Record<'left' | 'closed' | 'silent' | 'lost', number>>
  /** After a process was killed, as long as another one sweeps, and after its restart where it was the only one. */
  killedMs: Readonly<Record<'others sweep' | 'alone', number>>
  /** How long each kind of fault takes to heal, once it has ended. */
  healMs: Readonly<Record<FaultScope, number>>
  /** Sweepers that start wait until gateways had time to announce themselves. */
  startMs: number
  /** Sweepers look for what is left over only so often. */
  sweptMs: number
  /** How long an answer over HTTP may be old. */
  cacheMs: number
}

/** A server alone follows its machine's clock a tenth slower or faster. */
const SLEW = 1.1

export function boundsOf(settings: SimulatedSettings): Bounds {
  const { onlineDelayMs, leaseMs, flushMs, networkMs, timerLateMs } = settings
  const slew = settings.deployment === 'embedded' ? SLEW : 1
  const ttlMs = settings.ttlMs * slew
  const delayMs = Math.max(settings.offlineDelayMs, settings.lingerMs) * slew
  // From the client to the gateway, to the store and back twice, over the bus, and to the watcher.
  const travelMs = 8 * networkMs + 6 * timerLateMs + flushMs + 250
  const visibleMs = SWEPT_MS + travelMs + onlineDelayMs
  const settlesMs = leaseMs + SETTLING_MS
  return {
    visibleMs,
    ghostMs: { left: 0, closed: delayMs, silent: ttlMs + delayMs, lost: leaseMs + delayMs },
    killedMs: {
      'others sweep': Math.max(leaseMs + delayMs, ANNOUNCED_AGAIN_MS),
      alone: Math.max(leaseMs, SETTLING_MS) + delayMs,
    },
    healMs: {
      store: RECONNECT_MS + leaseMs + settlesMs + delayMs + visibleMs,
      server: leaseMs + settlesMs + delayMs + visibleMs,
      archive: DATABASE_MS + SETTLING_MS + visibleMs,
      clients: delayMs + visibleMs,
      kafka: 0,
      owner: 0,
    },
    startMs: SETTLING_MS + visibleMs + settings.readCacheMs,
    sweptMs: 2 * leaseMs + WRITTEN_AGAIN_MS,
    cacheMs: settings.readCacheMs,
  }
}

export interface Allowances {
  /** Until when a change must be visible that is due at this instant. */
  until(dueAt: number): number
  /** What was true since this instant must not be contradicted now. */
  since(now: number): number
  isDuring(at: number, scopes: readonly FaultScope[]): boolean
}

interface Window {
  from: number
  to: number
  scopes: readonly FaultScope[]
}

const windowOf = ({ from, to, healMs, scope, isOfArchive = false }: FaultRecord): Window => ({
  from,
  to: to + healMs,
  scopes: isOfArchive ? [scope, 'archive'] : [scope],
})

export const allowancesOf = (faults: readonly FaultRecord[], { visibleMs }: Bounds): Allowances =>
  allowancesOfWindows(faults.map(windowOf), visibleMs)

/** B1: where a process was killed and nothing else is broken, its users are gone as soon as it promises. */
export const ghostAllowancesOf = (faults: readonly FaultRecord[], { visibleMs }: Bounds): Allowances =>
  allowancesOfWindows(
    faults.map((fault) => {
      const window = windowOf(fault)
      const overlaps = (other: Window) => other.from <= window.to && other.to >= window.from
      const isAlone = faults.every((other) => other === fault || !overlaps(windowOf(other)))
      return isAlone ? { ...window, to: fault.ghostsUntil ?? window.to } : window
    }),
    visibleMs,
  )

function allowancesOfWindows(windows: readonly Window[], visibleMs: number): Allowances {
  return {
    until(dueAt) {
      let until = dueAt + visibleMs
      for (let isStable = false; !isStable; ) {
        isStable = true
        for (const { from, to } of windows) {
          if (from > until || to < dueAt || to + visibleMs <= until) continue
          until = to + visibleMs
          isStable = false
        }
      }
      return until
    },
    since(now) {
      let since = now - visibleMs
      for (let isStable = false; !isStable; ) {
        isStable = true
        for (const { from, to } of windows) {
          if (from > now || to < since || from - visibleMs >= since) continue
          since = from - visibleMs
          isStable = false
        }
      }
      return since
    },
    isDuring: (at, scopes) =>
      windows.some(
        (window) => window.from <= at && at <= window.to && window.scopes.some((one) => scopes.includes(one)),
      ),
  }
}
