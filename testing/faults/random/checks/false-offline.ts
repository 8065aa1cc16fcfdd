// A user with a connection that stayed up is not shown as offline to a viewer who may see the user. Excused are
// connections of servers that were killed or frozen past their lease, degraded answers, version 0 (nothing is
// known) towards watchers while the archive heals, and version 0 of users that only contacts may see
// while the contact lists cannot be read.
import type { Allowances } from '../history/allowances.ts'
import type { Connection, History } from '../history/history.ts'
import { maySee, possibleChoices } from '../history/possible-choices.ts'
import type { Violation } from './violation.ts'

export function checkFalseOffline(
  history: History,
  allowances: Pick<Allowances, 'since' | 'isDuring'>,
): Violation[] {
  const found: Violation[] = []
  const isExcused = ({ server }: Connection, from: number, to: number): boolean =>
    history.faults.some(
      (fault) => fault.servers.includes(server) && fault.from <= to && fault.to + fault.healMs >= from,
    )
  for (const sighting of history.sightings) {
    if (sighting.askedAt < history.agreedAt) continue
    const { at, askedAt, viewer, target, status, version, via, isDegraded, server } = sighting
    if ((status !== 'offline' && status !== null) || isDegraded) continue
    if (version === 0 && via !== 'http' && allowances.isDuring(at, ['archive'])) continue
    const user = history.targets.get(target)!
    const since = Math.max(allowances.since(askedAt), history.agreedAt)
    const isForContacts = possibleChoices(user, 'visibility', since, at).has('contacts')
    if (version === 0 && isForContacts && allowances.isDuring(at, ['archive'])) continue
    const held = user.connections.find(
      (one) => one.openedAt <= since && one.endedAt > at && !isExcused(one, since, at),
    )
    if (held === undefined || maySee(user, viewer, since, at) !== 'yes') continue
    const upMs = Math.round(at - held.openedAt)
    const what = `${viewer} was shown ${target} as offline (version ${version}, ${via} by ${server}), whose connection to ${held.server} has been up for ${upMs} ms`
    found.push({ check: 'false offline', at, target, viewer, what })
  }
  return found
}
