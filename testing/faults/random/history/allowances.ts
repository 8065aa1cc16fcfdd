// How late a change may be visible. Each fault is given a window: from its beginning until it has ended and the
// deployment had its time to heal. A change that is due in a window may wait for its end. What the harness itself
// was late by is added to everything, because then the servers were short of time as well.
import { VISIBLE_MS } from '../deployment/times.ts'
import type { FaultRecord, FaultScope } from './history.ts'

export interface Allowances {
  /** Until when a change must be visible that is due at this instant. */
  until(dueAt: number): number
  /** What was true since this instant must not be contradicted now. */
  since(now: number): number
  isDuring(at: number, scopes: readonly FaultScope[]): boolean
  slackMs: number
}

export function createAllowances(faults: readonly FaultRecord[], lagMs: number): Allowances {
  const slackMs = VISIBLE_MS + 2 * lagMs
  const windows = faults.map(({ from, to, healMs, scope }) => ({
    from,
    to: to + healMs + 2 * lagMs,
    scope,
  }))
  return {
    slackMs,
    until(dueAt) {
      let until = dueAt + slackMs
      for (let isStable = false; !isStable; ) {
        isStable = true
        for (const { from, to } of windows) {
          if (from > until || to < dueAt || to + slackMs <= until) continue
          until = to + slackMs
          isStable = false
        }
      }
      return until
    },
    since(now) {
      let since = now - slackMs
      for (let isStable = false; !isStable; ) {
        isStable = true
        for (const { from, to } of windows) {
          if (from > now || to < since || from - slackMs >= since) continue
          since = from - slackMs
          isStable = false
        }
      }
      return since
    },
    isDuring: (at, scopes) =>
      windows.some(({ from, to, scope }) => scopes.includes(scope) && from <= at && at <= to),
  }
}
