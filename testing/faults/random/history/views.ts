// What each watcher has on its screen, by the rule that clients follow: version 0 replaces everything, and otherwise
// only a newer version does. As stretches of time, so that a check can ask what was shown when.
import type { History, Sighting } from './history.ts'

export interface View {
  sighting: Sighting
  from: number
  /** Infinity for the last one. */
  to: number
}

/** By viewer and target: `viewsOf(history).get('viewer-0 u7')`. */
export function viewsOf({ sightings }: Pick<History, 'sightings'>): Map<string, View[]> {
  const views = new Map<string, View[]>()
  for (const sighting of sightings) {
    if (sighting.via === 'http') continue
    const key = `${sighting.viewer} ${sighting.target}`
    const shown = views.get(key) ?? []
    if (shown.length === 0) views.set(key, shown)
    const last = shown.at(-1)
    if (last !== undefined && sighting.version !== 0 && sighting.version < last.sighting.version) continue
    if (last !== undefined) last.to = sighting.at
    shown.push({ sighting, from: sighting.at, to: Number.POSITIVE_INFINITY })
  }
  return views
}
