// Versions of one target never go backwards for one viewer, also when the viewer reconnects with the versions it
// knows. Version 0 means that nothing is known and may come at any time. After it a state may be guessed from the
// archive, and a guess has the version below the true one.
import type { History } from '../history/history.ts'
import type { Violation } from './violation.ts'

export function checkVersions({ sightings }: Pick<History, 'sightings'>): Violation[] {
  const highest = new Map<string, number>()
  /** Viewers that know nothing of the target now. */
  const emptied = new Set<string>()
  const found: Violation[] = []
  for (const { at, viewer, target, version, via, server } of sightings) {
    if (via === 'http') continue
    const key = `${viewer} ${target}`
    if (version === 0) {
      emptied.add(key)
      continue
    }
    const shown = highest.get(key) ?? 0
    const before = emptied.delete(key) ? shown - 1 : shown
    if (version < before) {
      const what = `${viewer} was shown version ${version} of ${target} by ${server} after version ${before}`
      found.push({ check: 'version', at, target, viewer, what })
    }
    highest.set(key, Math.max(version, shown))
  }
  return found
}
