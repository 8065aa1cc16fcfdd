// Versions of one target never go backwards for one viewer, also when the viewer reconnects with the versions it
// knows. Version 0 means that nothing is known and may come at any time. It replaces every version, so
// what comes after it begins anew: the store may have lost versions that were shown.
import type { History } from '../history/history.ts'
import type { Violation } from './violation.ts'

export function checkVersions({ sightings }: Pick<History, 'sightings'>): Violation[] {
  const highest = new Map<string, number>()
  const found: Violation[] = []
  for (const { at, viewer, target, version, via, server } of sightings) {
    if (via === 'http') continue
    const key = `${viewer} ${target}`
    if (version === 0) {
      highest.delete(key)
      continue
    }
    const before = highest.get(key) ?? 0
    if (version < before) {
      const what = `${viewer} was shown version ${version} of ${target} by ${server} after version ${before}`
      found.push({ check: 'version', at, target, viewer, what })
    }
    highest.set(key, Math.max(version, before))
  }
  return found
}
