// A viewer who may not see a user is never told that the user is here, from the moment the choice was acknowledged
// and had its time to reach all servers. A server that was frozen may still send what it had ready.
import type { History, Sighting, Target } from '../history/history.ts'
import { isAdmitted, possibleChoices } from '../history/possible-choices.ts'
import type { Violation } from './violation.ts'

export function checkPrivacy(history: History, spreadMs: number): Violation[] {
  const found: Violation[] = []
  for (const sighting of history.sightings) {
    const { at, askedAt, viewer, target, version, via, server, isDegraded } = sighting
    const from = askedAt - spreadMs
    if (wasFrozen(history, server, from, at)) continue
    const what = leakOf(history.targets.get(target)!, sighting, from)
    if (what === null) continue
    const how = `(version ${version}, ${via} by ${server}${isDegraded ? ', degraded' : ''})`
    found.push({ check: 'privacy', at, target, viewer, what: `${viewer} was shown ${target} ${what} ${how}` })
  }
  return found
}

function leakOf(target: Target, sighting: Sighting, from: number): string | null {
  const { at, viewer, status, text, deviceCount } = sighting
  const isHere = (status !== 'offline' && status !== null) || deviceCount > 0
  const audiences = [...possibleChoices(target, 'visibility', from, at)]
  if (!audiences.some((audience) => isAdmitted(target, viewer, audience)))
    return isHere || text !== null ? `as ${status} ${text ?? ''}, who is hidden from this viewer` : null
  const availabilities = possibleChoices(target, 'availability', from, at)
  if (availabilities.size > 1 || !availabilities.has('invisible')) return null
  if (isHere) return `as ${status}, who is invisible`
  const chosen = target.choices.find((choice) => choice.field === 'text' && choice.value === text)
  if (chosen === undefined) return null
  const wasInvisible = possibleChoices(target, 'availability', chosen.sentAt, at)
  return wasInvisible.size === 1 ? `with the text ${text}, which was chosen while invisible` : null
}

const wasFrozen = ({ faults }: History, server: string, from: number, to: number): boolean =>
  faults.some(
    ({ name, servers, from: since, to: until }) =>
      name.startsWith('server') && servers.includes(server) && since <= to && until >= from,
  )
