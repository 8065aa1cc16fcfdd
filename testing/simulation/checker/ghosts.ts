// B1: a user who is gone is shown as offline within the bound of that kind of departure, and stays so until the next
// arrival. Only what a connected watcher has on its screen counts, and undegraded answers. A connection that was never
// welcomed counts as well: the gateway may have admitted it.
import type { Violation } from '../../faults/random/checks/violation.ts'
import type { History } from '../../faults/random/history/history.ts'
import { viewsOf } from '../../faults/random/history/views.ts'
import type { Attempt } from '../clients/peer.ts'
import type { Person } from '../clients/people.ts'
import type { Allowances, Bounds } from './bounds.ts'

interface Absence {
  from: number
  to: number
  dueAt: number
}

export function checkGhosts(
  history: History,
  people: readonly Person[],
  allowances: Allowances,
  bounds: Bounds,
  endedAt: number,
): Violation[] {
  const found: Violation[] = []
  const views = viewsOf(history)
  for (const person of people) {
    const { id } = person.target
    for (const { from, to, dueAt } of absencesOf(person, history, bounds, endedAt)) {
      const until = allowances.until(dueAt)
      if (until >= to) continue
      const say = (at: number, viewer: string, how: string) => {
        const what = `${viewer} ${how} ${id} as here ${Math.round(at - from)} ms after the departure; the bound was ${Math.round(until - from)} ms`
        found.push({ check: 'ghost', at, target: id, viewer, what })
      }
      for (const { viewer, from: watchesFrom, to: watchesTo } of history.watchings) {
        const earliest = Math.max(until, watchesFrom + bounds.visibleMs)
        const latest = Math.min(to, watchesTo)
        for (const view of views.get(`${viewer} ${id}`) ?? []) {
          const at = Math.max(earliest, view.from)
          if (isHere(view.sighting.status) && at < Math.min(latest, view.to)) say(at, viewer, 'still showed')
        }
      }
      for (const { at, askedAt, viewer, target, status, via, isDegraded } of history.sightings) {
        if (target !== id || via !== 'http' || isDegraded || !isHere(status)) continue
        if (askedAt > until + bounds.cacheMs && at < to) say(at, viewer, 'was answered')
      }
    }
  }
  return found
}

const isHere = (status: string | null): boolean => status !== 'offline' && status !== null

/** A process that stands still reads the last heartbeats later, and takes their client for alive then. */
function silentFrom({ server, endedAt }: Attempt, { faults }: History): number {
  const still = faults.flatMap(({ from, stoodStill }) =>
    stoodStill?.server === server && from <= endedAt && endedAt <= stoodStill.until ? [stoodStill.until] : [],
  )
  return Math.max(endedAt, ...still)
}

function absencesOf(
  { target, attempts }: Person,
  history: History,
  { ghostMs }: Bounds,
  endedAt: number,
): Absence[] {
  const absences: Absence[] = []
  for (const { value, from, to } of target.isPresent.stretches()) {
    if (value || from === Number.NEGATIVE_INFINITY) continue
    // What a client says to a process that was killed is not heard.
    const goneAt = (attempt: Attempt) => {
      const { endedAt: at, ending, killedAt } = attempt
      if (killedAt <= at) return killedAt + ghostMs.lost
      return ending === 'silent'
        ? silentFrom(attempt, history) + ghostMs.silent
        : at + ghostMs[ending ?? 'lost']
    }
    const before = attempts.filter(({ triedAt }) => triedAt <= from)
    absences.push({ from, to: Math.min(to, endedAt), dueAt: Math.max(from, ...before.map(goneAt)) })
  }
  return absences
}
