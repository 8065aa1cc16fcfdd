// Presets of the custom status, with their expiry. Pure: the time is an argument.
import { timeWords } from '../../words.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HALF_HOUR_MS = 30 * MINUTE_MS
/** A meeting that ends sooner than this is not offered. */
const MEETING_MS_MIN = 15 * MINUTE_MS

export interface Preset {
  text: string
  emoji: string
  expiresAt: number | null
  label: string
}

/** The next full or half hour that is far enough ahead; half hours are the same in every time zone. */
export function meetingEnd(now: number): number {
  return Math.ceil((now + MEETING_MS_MIN) / HALF_HOUR_MS) * HALF_HOUR_MS
}

export function presetsAt(now: number): Preset[] {
  const ends = meetingEnd(now)
  return [
    {
      text: 'In a meeting',
      emoji: '📅',
      expiresAt: ends,
      label: `In a meeting 📅 until ${timeWords(ends, now)}`,
    },
    { text: 'Kettle is on', emoji: '☕', expiresAt: now + 15 * SECOND_MS, label: 'Kettle is on ☕ for 15 s' },
    { text: 'Focusing', emoji: '🎧', expiresAt: null, label: 'Focusing 🎧' },
    { text: 'On holiday', emoji: '🌴', expiresAt: null, label: 'On holiday 🌴' },
  ]
}

export const DURATIONS: readonly { label: string; ms: number | null }[] = [
  { label: 'until I clear it', ms: null },
  { label: 'for 15 seconds', ms: 15 * SECOND_MS },
  { label: 'for 30 minutes', ms: 30 * MINUTE_MS },
  { label: 'for 4 hours', ms: 240 * MINUTE_MS },
]
