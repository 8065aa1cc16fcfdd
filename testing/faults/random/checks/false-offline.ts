// A user with a connection that stayed up is not shown as offline to a viewer who may see the user. Excused are
// connections of servers that were killed or frozen past their lease, degraded answers, version 0 (nothing is
// known) towards watchers while the archive heals, and version 0 of users that only contacts may see
// while the contact lists cannot be read. So is version 0 that the same frame follows with the state: it takes back a
// version that the store has lost, and a client shows what is last in a frame.
import type { Allowances } from '../history/allowances.ts'
import type { Connection, History, Sighting } from '../history/history.ts'
import { maySee, possibleChoices } from '../history/possible-choices.ts'
import type { Violation } from './violation.ts'

/** Longer than the entries of a frame take to be noted. */
const FRAME_MS = 5

export function checkFalseOffline(
  history: History,
  allowances: Pick<Allowances, 'since' | 'isDuring'>,
): Violation[] {
  const found: Violation[] = []
  const isExcused = ({ server }: Connection, from: number, to: number): boolean =>
    history.faults.some(
      (fault) => fault.servers.includes(server) && fault.from <= to && fault.to + fault.healMs >= from,
    )
  for (const [position, sighting] of history.sightings.entries()) {
    if (sighting.askedAt < history.agreedAt || isReplacedAtOnce(history.sightings, position)) continue
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

/** Sightings of one frame follow each other at once. */
function isReplacedAtOnce(sightings: readonly Sighting[], position: number): boolean {
  const { at, viewer, target, version, server, via } = sightings[position]!
  const next = sightings[position + 1]
  if (version !== 0 || via === 'http' || next === undefined || next.version === 0) return false
  const isSameFrame = next.viewer === viewer && next.server === server && next.at - at < FRAME_MS
  return isSameFrame && next.target === target && next.via === via
}
