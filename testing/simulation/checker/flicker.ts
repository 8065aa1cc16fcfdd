// B2: an interruption shorter than the offline delay is never visible. A user who meant to be here all the time, and whose
// connections followed each other quickly enough, is not shown as offline.
import type { Violation } from '../../faults/random/checks/violation.ts'
import type { History } from '../../faults/random/history/history.ts'
import { maySee } from '../../faults/random/history/possible-choices.ts'
import type { Attempt } from '../clients/peer.ts'
import type { Person } from '../clients/people.ts'
import type { SimulatedSettings } from '../world/settings.ts'
import type { Allowances } from './bounds.ts'

/** What the client and the server may differ by, beside the network. */
const SLACK_MS = 250

export function checkFlicker(
  history: History,
  people: readonly Person[],
  allowances: Allowances,
  settings: SimulatedSettings,
): Violation[] {
  const gapMsMax = settings.offlineDelayMs - SLACK_MS - 6 * settings.networkMs - 4 * settings.timerLateMs
  if (gapMsMax <= 0) return []
  const byId = new Map(people.map((person) => [person.target.id, person]))
  return history.sightings.flatMap((sighting): Violation[] => {
    const { at, askedAt, viewer, target, status, version, via, isDegraded, server } = sighting
    if ((status !== 'offline' && status !== null) || version === 0 || isDegraded) return []
    if (askedAt < history.agreedAt) return []
    const since = Math.max(history.agreedAt, allowances.since(askedAt))
    const person = byId.get(target)!
    if (person.target.isPresent.wasWithin(false, since, at)) return []
    if (!wasHere(person, since, at, gapMsMax, history)) return []
    if (maySee(person.target, viewer, since, at) !== 'yes') return []
    const what = `${viewer} was shown ${target} as offline (version ${version}, ${via} by ${server}), whose interruptions were shorter than ${settings.offlineDelayMs} ms`
    return [{ check: 'flicker', at, target, viewer, what }]
  })
}

/** Whether the connections of the user cover the stretch, with gaps no longer than this. */
function wasHere(person: Person, from: number, to: number, gapMsMax: number, history: History): boolean {
  const isExcused = ({ server }: Attempt) =>
    history.faults.some(
      (fault) => fault.servers.includes(server) && fault.from <= to && fault.to + fault.healMs >= from,
    )
  const held = person.attempts
    .filter((one) => one.openedAt <= to && one.endedAt >= from - gapMsMax && !isExcused(one))
    .sort((a, b) => a.openedAt - b.openedAt)
  let coveredTo = Number.NEGATIVE_INFINITY
  for (const { openedAt, endedAt, ending } of held) {
    if (coveredTo === Number.NEGATIVE_INFINITY && openedAt > from) return false
    if (openedAt > coveredTo + gapMsMax && coveredTo !== Number.NEGATIVE_INFINITY) return false
    // After a goodbye there is no delay.
    const until = ending === 'left' ? Number.NEGATIVE_INFINITY : endedAt
    coveredTo = Math.max(coveredTo, until)
  }
  return coveredTo + gapMsMax >= to
}
