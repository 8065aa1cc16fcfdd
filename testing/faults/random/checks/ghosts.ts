// A user who is gone is shown as offline within the bound of that kind of departure, and
// stays so until the next arrival. While faults last the bound is counted from the end of their healing. Only what
// a connected watcher has on its screen counts, and undegraded answers.
import { GHOST_MS } from '../deployment/times.ts'
import type { Allowances } from '../history/allowances.ts'
import type { Connection, History, Target } from '../history/history.ts'
import { viewsOf } from '../history/views.ts'
import type { Violation } from './violation.ts'

/** Connections that ended this long before the user was gone may still have their delay. */
const EARLIER_MS = 10_000
/** How long answers over HTTP are cached. */
const CACHE_MS = 1_000

interface Absence {
  from: number
  to: number
  dueAt: number
}

export function checkGhosts(history: History, allowances: Allowances, endedAt: number): Violation[] {
  const found: Violation[] = []
  const views = viewsOf(history)
  for (const target of history.targets.values()) {
    for (const { from, to, dueAt } of absencesOf(target, endedAt)) {
      const until = allowances.until(dueAt)
      if (until >= to) continue
      const say = (at: number, viewer: string, how: string) => {
        const what = `${viewer} ${how} ${target.id} as here at ${Math.round(at - from)} ms after the departure; the bound was ${Math.round(until - from)} ms`
        found.push({ check: 'ghost', at, target: target.id, viewer, what })
      }
      for (const { viewer, from: watchesFrom, to: watchesTo } of history.watchings) {
        const earliest = Math.max(until, watchesFrom + allowances.slackMs)
        const latest = Math.min(to, watchesTo)
        for (const view of views.get(`${viewer} ${target.id}`) ?? []) {
          const at = Math.max(earliest, view.from)
          const isHere = view.sighting.status !== 'offline' && view.sighting.status !== null
          if (isHere && at < Math.min(latest, view.to)) say(at, viewer, 'still showed')
        }
      }
      for (const { at, askedAt, viewer, target: id, status, via, isDegraded } of history.sightings) {
        if (id !== target.id || via !== 'http' || isDegraded || status === 'offline') continue
        if (status !== null && askedAt > until + CACHE_MS && at < to) say(at, viewer, 'was answered')
      }
    }
  }
  return found
}

function absencesOf(target: Target, endedAt: number): Absence[] {
  const absences: Absence[] = []
  for (const { value, from, to } of target.isPresent.stretches()) {
    if (value || from === Number.NEGATIVE_INFINITY) continue
    const endings = target.connections.filter(
      (one) => one.endedAt > from - EARLIER_MS && one.openedAt <= from,
    )
    const dueAt = Math.max(from, ...endings.map(goneAt))
    absences.push({ from, to: Math.min(to, endedAt), dueAt })
  }
  return absences
}

const goneAt = ({ endedAt, ending }: Connection): number => endedAt + GHOST_MS[ending ?? 'lost']
