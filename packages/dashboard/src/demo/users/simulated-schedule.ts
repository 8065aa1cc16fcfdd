// What a simulated neighbour does at a given instant. A pure function of index and time, so that two browsers
// that simulate the same neighbours agree.
import type { Activity, AvailabilityChoice, Platform } from '@greendot/client'

const SCENE_MS = 18_000
/** Neighbours do not change at the same time. */
const SHIFT_MS = 11_000

export interface Scene {
  isHere: boolean
  activity: Activity
  availability: AvailabilityChoice
  says: { text: string; emoji: string } | null
}

const HERE: Scene = { isHere: true, activity: 'active', availability: 'online', says: null }
const AWAY: Scene = { ...HERE, activity: 'idle' }
const BUSY: Scene = { ...HERE, availability: 'busy', says: { text: 'Deep in it', emoji: '🎧' } }
const GONE: Scene = { ...HERE, isHere: false }
const saying = (text: string, emoji: string): Scene => ({ ...HERE, says: { text, emoji } })

/** Each list is repeated. */
const DAYS: readonly (readonly Scene[])[] = [
  [HERE, saying('Watering plants', '🪴'), HERE, AWAY, GONE],
  [HERE, BUSY, BUSY, HERE, AWAY],
  [GONE, HERE, HERE, saying('Lunch', '🍜'), AWAY, HERE],
  [HERE, AWAY, HERE, BUSY, GONE, GONE],
  [saying('Night shift', '🌙'), HERE, HERE, AWAY],
  [GONE, GONE, HERE, saying('Piano practice', '🎹'), BUSY],
]

export function sceneOf(index: number, now: number): Scene {
  const day = DAYS[index % DAYS.length]!
  return day[Math.floor((now + index * SHIFT_MS) / SCENE_MS) % day.length]!
}

export const platformOf = (index: number): Platform => (['web', 'mobile', 'desktop'] as const)[index % 3]!
