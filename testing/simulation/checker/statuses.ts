// B2: what a watcher is shown was true a moment ago. A user is shown as busy or with a text only if that was chosen, as
// online only if no other choice replaces it, and not as away while an active device is connected.
import type { Violation } from '../../faults/random/checks/violation.ts'
import type { History, Sighting } from '../../faults/random/history/history.ts'
import { possibleChoices } from '../../faults/random/history/possible-choices.ts'
import type { Person } from '../clients/people.ts'
import type { Allowances } from './bounds.ts'

export function checkStatuses(
  history: History,
  people: readonly Person[],
  allowances: Allowances,
  cacheMs: number,
): Violation[] {
  const byId = new Map(people.map((person) => [person.target.id, person]))
  return history.sightings.flatMap((sighting): Violation[] => {
    const { at, askedAt, viewer, target, via, isDegraded, version, server } = sighting
    if (isDegraded || version === 0 || at < history.agreedAt) return []
    const since = allowances.since(askedAt) - (via === 'http' ? cacheMs : 0)
    const why = whyWrong(byId.get(target)!, sighting, since, history)
    if (why === null) return []
    const what = `${viewer} was shown ${target} ${why} (version ${version}, ${via} by ${server})`
    return [{ check: 'status', at, target, viewer, what }]
  })
}

function whyWrong(person: Person, sighting: Sighting, since: number, history: History): string | null {
  const { target } = person
  const { at, status, text } = sighting
  const availabilities = possibleChoices(target, 'availability', since, at)
  if (status === 'busy' && !availabilities.has('busy')) return 'as busy, who was not'
  if (status === 'online' && !availabilities.has('auto')) return `as online, who was ${[...availabilities]}`
  if (
    text !== null &&
    !availabilities.has('invisible') &&
    !possibleChoices(target, 'text', since, at).has(text)
  )
    return `with the text ${text}, which was replaced`
  if (status !== 'away' || availabilities.has('away')) return null
  // After a loss of memory devices are known again one by one.
  if (
    history.faults.some(({ scope, from, to, healMs }) => scope === 'store' && from <= at && to + healMs >= at)
  )
    return null
  const isExcused = (server: string) =>
    history.faults.some(
      (fault) => fault.servers.includes(server) && fault.to + fault.healMs >= since && fault.from <= at,
    )
  const isActive = person.devices.some(({ peer, activities }) =>
    person.attempts.some(
      ({ device, server, openedAt, endedAt }) =>
        peer.name.endsWith(`/${device}`) &&
        openedAt <= since &&
        endedAt > at &&
        !isExcused(server) &&
        !activities.wasWithin('idle', since, at),
    ),
  )
  return isActive ? 'as away, who has an active device' : null
}
